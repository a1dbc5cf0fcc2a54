//! Graphemes that are shown as emoji, by the properties that Unicode publishes (UTS 51).

use unicode_properties::emoji::{EmojiStatus, UnicodeEmoji};

/// Selects the emoji form of a character that could also be a plain symbol.
const EMOJI_STYLE: char = '\u{fe0f}';
/// Turns a digit into a keycap.
const KEYCAP: char = '\u{20e3}';

/// Returns true if this grapheme is displayed as an emoji.
pub(super) fn is_emoji(grapheme: &str) -> bool {
    let Some(first) = grapheme.chars().next() else { return false };
    if is_by_itself(first) {
        return true;
    }
    let style = if first.is_ascii() { KEYCAP } else { EMOJI_STYLE };
    let is_asked = |c: char| c == style || c == KEYCAP || is_by_itself(c);
    // The length decides this for nearly all text.
    grapheme.len() > first.len_utf8() && first.is_emoji_char() && grapheme.chars().any(is_asked)
}

fn is_by_itself(c: char) -> bool {
    c > '\u{2000}'
        && matches!(
            c.emoji_status(),
            EmojiStatus::EmojiPresentation
                | EmojiStatus::EmojiPresentationAndModifierBase
                | EmojiStatus::EmojiPresentationAndModifierAndEmojiComponent
                | EmojiStatus::EmojiPresentationAndEmojiComponent
        )
}

#[cfg(test)]
mod tests {
    use crate::text::threads_units;

    #[test]
    fn emoji_count_as_bytes_and_everything_else_as_characters() {
        let table = [
            ("", 0),
            ("hello", 5),
            ("Grüße", 5),
            ("日本語", 3),
            ("e\u{301}", 2),
            ("😀", 4),
            ("hi 😀!", 8),
            ("👨\u{200d}👩\u{200d}👧", 18),
            ("🇩🇪", 8),
            ("❤\u{fe0f}", 6),
            ("❤", 1),
            ("1\u{fe0f}\u{20e3}", 7),
            ("👍🏽", 8),
            ("© ™ → ½", 7),
            ("a\u{fe0f}", 2),
        ];
        for (text, units) in table {
            assert_eq!(threads_units(text), units, "{text}");
        }
    }
}
