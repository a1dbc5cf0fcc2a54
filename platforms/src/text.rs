//! Ways networks count text.

mod emoji;

use unicode_segmentation::UnicodeSegmentation;

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

/// Does a web address stand in the text: `http://…`, `https://…` or `www.…`?
#[must_use]
pub fn has_web_address(text: &str) -> bool {
    let lower = text.to_lowercase();
    let starts = ["https://", "http://", "www."];
    starts.iter().flat_map(|start| lower.match_indices(start)).any(|(at, start)| {
        let before = lower[..at].chars().next_back();
        let after = lower[at + start.len()..].chars().next();
        before.is_none_or(|c| !c.is_alphanumeric()) && after.is_some_and(char::is_alphanumeric)
    })
}
