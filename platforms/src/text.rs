//! Ways networks count text.

mod address;
mod emoji;
mod link;
mod tld;
mod toot;
mod weighted;

pub use address::{Addresses, bare_address, first_address};
pub use toot::mastodon_units;
use unicode_segmentation::UnicodeSegmentation;
pub use weighted::{without_x_links, x_links, x_units};

/// Unicode scalar values.
#[must_use]
pub fn characters(text: &str) -> usize {
    text.chars().count()
}

/// What a person sees as one character.
#[must_use]
pub fn graphemes(text: &str) -> usize {
    text.graphemes(true).count()
}

/// UTF-16 code units.
#[must_use]
pub fn utf16_units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// What Threads counts: an emoji as its UTF-8 bytes, any other character as one.
/// <https://developers.facebook.com/docs/threads/overview#limitations>
#[must_use]
pub fn threads_units(text: &str) -> usize {
    text.graphemes(true)
        .map(|one| if emoji::is_emoji(one) { one.len() } else { one.chars().count() })
        .sum()
}

/// Returns true if a web address stands in the text: `http://…`, `https://…`, `www.…`, or a name that X makes a link of.
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

/// What Slack counts: `&`, `<` and `>` as they must be written in a text.
#[must_use]
pub fn slack_units(text: &str) -> usize {
    let length = |c: char| match c {
        '&' => "&amp;".len(),
        '<' | '>' => "&lt;".len(),
        _ => 1,
    };
    text.chars().map(length).sum()
}

/// The shape of a BCP 47 tag: a language of 2 or 3 letters, then parts of up to 8 letters or digits.
#[must_use]
pub fn is_language_tag(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let language = parts.next().unwrap_or_default();
    matches!(language.len(), 2 | 3)
        && language.bytes().all(|byte| byte.is_ascii_alphabetic())
        && parts.all(|part| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

#[cfg(test)]
mod tests {
    use super::is_language_tag;

    #[test]
    fn language_tags_are_known_by_their_shape() {
        for tag in ["en", "pt-BR", "zh-Hant-TW", "gsw", "de-1996"] {
            assert!(is_language_tag(tag), "{tag}");
        }
        for tag in ["", "e", "english", "en_US", "en-", "-en", "en-muchtoolong", "日本"] {
            assert!(!is_language_tag(tag), "{tag}");
        }
    }
}
