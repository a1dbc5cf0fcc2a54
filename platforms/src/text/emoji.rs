//! Which graphemes are emoji (Unicode 17, property `Emoji_Presentation`, in blocks).

/// Asks for an emoji where a character could also be a plain symbol.
const EMOJI_STYLE: char = '\u{fe0f}';
/// Turns a digit into a keycap.
const KEYCAP: char = '\u{20e3}';

/// Characters below U+1F000 that are emoji without being asked.
const SINGLE: &[u32] = &[
    0x23f0, 0x23f3, 0x267f, 0x2693, 0x26a1, 0x26ce, 0x26d4, 0x26ea, 0x26f5, 0x26fa, 0x26fd, 0x2705,
    0x2728, 0x274c, 0x274e, 0x2757, 0x27b0, 0x27bf, 0x2b50, 0x2b55,
];

/// First and last of the ranges that are emoji without being asked.
const RANGES: &[(u32, u32)] = &[
    (0x231a, 0x231b),
    (0x23e9, 0x23ec),
    (0x25fd, 0x25fe),
    (0x2614, 0x2615),
    (0x2648, 0x2653),
    (0x26aa, 0x26ab),
    (0x26bd, 0x26be),
    (0x26c4, 0x26c5),
    (0x26f2, 0x26f3),
    (0x270a, 0x270b),
    (0x2753, 0x2755),
    (0x2795, 0x2797),
    (0x2b1b, 0x2b1c),
    (0x1f004, 0x1f004),
    (0x1f0cf, 0x1f0cf),
    (0x1f18e, 0x1f18e),
    (0x1f191, 0x1f19a),
    (0x1f1e6, 0x1f1ff),
    (0x1f201, 0x1f265),
    (0x1f300, 0x1f6ff),
    (0x1f7e0, 0x1f7f0),
    (0x1f90c, 0x1faff),
];

/// Is this grapheme shown as an emoji?
pub(super) fn is_emoji(grapheme: &str) -> bool {
    grapheme.chars().any(|c| c == EMOJI_STYLE || c == KEYCAP || is_emoji_by_itself(u32::from(c)))
}

fn is_emoji_by_itself(code: u32) -> bool {
    SINGLE.contains(&code) || RANGES.iter().any(|(first, last)| (*first..=*last).contains(&code))
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
        ];
        for (text, units) in table {
            assert_eq!(threads_units(text), units, "{text}");
        }
    }
}
