//! The ways in which networks count text.

mod address;
mod alterations;
mod emoji;
mod html;
mod invisible;
mod language;
mod likeness;
mod link;
mod mastodon;
mod tld;
mod weighted;

pub use address::{Addresses, bare_address, first_address};
pub use alterations::{Alteration, Alterations, Loss, likeness_altered, loss, of_article};
pub use html::of_html;
pub use invisible::{clean_identifier, is_blank};
pub use language::{TAG_MAX, is_language_tag, language_violation};
pub use likeness::{Likeness, are_alike, canonical, has_words, likeness, likeness_without_links};
pub use mastodon::mastodon_units;
use unicode_segmentation::UnicodeSegmentation;
pub use weighted::{without_x_links, x_links, x_units};

/// Counts Unicode scalar values.
#[must_use]
pub fn characters(text: &str) -> usize {
    text.chars().count()
}

/// Counts graphemes: what people see as one character.
#[must_use]
pub fn graphemes(text: &str) -> usize {
    text.graphemes(true).count()
}

/// Counts UTF-16 code units.
#[must_use]
pub fn utf16_units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Counts as Threads does: an emoji as its UTF-8 bytes, any other character as one.
/// <https://developers.facebook.com/docs/threads/overview#limitations>
#[must_use]
pub fn threads_units(text: &str) -> usize {
    text.graphemes(true)
        .map(|one| if emoji::is_emoji(one) { one.len() } else { one.chars().count() })
        .sum()
}

/// Returns true if the text contains a web address: `http://…`, `https://…`, `www.…`, or a name that X turns into a
/// link.
#[must_use]
pub fn has_web_address(text: &str) -> bool {
    if !x_links(text).is_empty() {
        return true;
    }
    let lower = text.to_lowercase();
    let starts = ["https://", "http://", "www."];
    starts.iter().flat_map(|start| lower.match_indices(start)).any(|(at, start)| {
        let before = lower[..at].chars().next_back();
        let after = lower[at + start.len()..].chars().next();
        before.is_none_or(|c| !c.is_alphanumeric()) && after.is_some_and(char::is_alphanumeric)
    })
}

/// Counts as Slack does: `&`, `<` and `>` in their escaped form.
#[must_use]
pub fn slack_units(text: &str) -> usize {
    let length = |c: char| match c {
        '&' => "&amp;".len(),
        '<' | '>' => "&lt;".len(),
        _ => 1,
    };
    text.chars().map(length).sum()
}
