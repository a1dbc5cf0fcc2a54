//! Counts a text and finds its links, as Threads does.

use std::collections::BTreeSet;

/// Returns the length of a text: one for each character, but the UTF-8 bytes of an emoji.
pub(super) fn length(text: &str) -> usize {
    let mut chars = text.chars().peekable();
    let mut sum = 0;
    while let Some(c) = chars.next() {
        // A plain symbol followed by a variation selector is an emoji.
        let emoji =
            is_emoji(c) || (!c.is_ascii_alphanumeric() && chars.peek() == Some(&'\u{fe0f}'));
        sum += if emoji { c.len_utf8() } else { 1 };
    }
    sum
}

fn is_emoji(c: char) -> bool {
    matches!(
        u32::from(c),
        // Joiners, selectors, keycaps and tags are parts of emoji.
        0x200d | 0xfe0f | 0x20e3 | 0xe0020..=0xe007f
        | 0x231a..=0x231b | 0x23e9..=0x23f3 | 0x23f8..=0x23fa
        | 0x25fd..=0x25fe | 0x2614..=0x2615 | 0x2648..=0x2653 | 0x267f | 0x2693 | 0x26a1 | 0x26aa..=0x26ab
        | 0x26bd..=0x26be | 0x26c4..=0x26c5 | 0x26ce | 0x26d4 | 0x26ea | 0x26f2..=0x26f3 | 0x26f5 | 0x26fa | 0x26fd
        | 0x2705 | 0x270a..=0x270b | 0x2728 | 0x274c | 0x274e | 0x2753..=0x2755 | 0x2757 | 0x2795..=0x2797
        | 0x27b0 | 0x27bf | 0x2b1b..=0x2b1c | 0x2b50 | 0x2b55
        | 0x1f004 | 0x1f0cf | 0x1f18e | 0x1f191..=0x1f19a | 0x1f1e6..=0x1f1ff | 0x1f201..=0x1faff
    )
}

/// Returns the distinct addresses in a text.
pub(super) fn links(text: &str) -> BTreeSet<&str> {
    let is_link = |word: &&str| {
        let lower = word.to_ascii_lowercase();
        ["http://", "https://", "www."].iter().any(|start| lower.starts_with(start))
    };
    let words = text.split(|c: char| c.is_whitespace() || "<>\"()[]{}".contains(c));
    words
        .map(|word| word.trim_end_matches(['.', ',', '!', '?', ';', ':']))
        .filter(is_link)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{length, links};

    #[test]
    fn emoji_count_as_bytes() {
        assert_eq!(length("abc"), 3);
        assert_eq!(length("äöü漢字"), 5);
        assert_eq!(length("😀"), 4);
        assert_eq!(length("👨‍👩‍👧"), 4 * 3 + 3 * 2);
        assert_eq!(length("❤️"), 6);
        assert_eq!(length("❤"), 1);
        assert_eq!(length("🇩🇪"), 8);
    }

    #[test]
    fn links_are_counted_once() {
        let found = links(
            "see https://a.example, (https://b.example/x?y=1) and https://a.example. www.c.example!",
        );
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            ["https://a.example", "https://b.example/x?y=1", "www.c.example"]
        );
    }
}
