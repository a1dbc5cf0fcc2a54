//! How X counts a text.

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

const LINK: usize = 23;

/// The weighted length of a text.
pub(super) fn length(text: &str) -> usize {
    let text: String = text.nfc().collect();
    text.split_inclusive(char::is_whitespace)
        .map(|piece| {
            let word = piece.trim_end();
            let (start, link, end) = around(word);
            let space = piece.len() - word.len();
            let space = if space > 0 { weigh(&piece[word.len()..]) } else { 0 };
            let link = if link.is_empty() { 0 } else { LINK };
            weigh(start) + link + weigh(end) + space
        })
        .sum()
}

/// A word in three: what stands before an address in it, the address, what follows.
fn around(word: &str) -> (&str, &str, &str) {
    let lower = word.to_ascii_lowercase();
    let at = ["https://", "http://"].iter().filter_map(|scheme| lower.find(scheme)).min();
    let Some(at) = at else {
        let name = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let known = [".com", ".org", ".net", ".example"];
        if name.len() > 4 && known.iter().any(|end| name.to_ascii_lowercase().ends_with(end)) {
            let start = word.find(name).unwrap_or(0);
            return (&word[..start], name, &word[start + name.len()..]);
        }
        return (word, "", "");
    };
    let rest = &word[at..];
    let stop = rest.find(|c: char| "<>()[]{}\"".contains(c)).unwrap_or(rest.len());
    let link = rest[..stop].trim_end_matches(['.', ',', ';', ':', '!', '?', '\'']);
    let host = link.split("://").nth(1).unwrap_or_default();
    if !host.contains('.') {
        return (word, "", "");
    }
    (&word[..at], link, &rest[link.len()..])
}

fn weigh(text: &str) -> usize {
    let of_char = |c: char| match u32::from(c) {
        0..=4_351 | 8_192..=8_205 | 8_208..=8_223 | 8_242..=8_247 => 1,
        _ => 2,
    };
    let of_one = |one: &str| {
        if one.chars().any(is_emoji) { 2 } else { one.chars().map(of_char).sum() }
    };
    text.graphemes(true).map(of_one).sum()
}

fn is_emoji(c: char) -> bool {
    matches!(u32::from(c), 0xfe0f | 0x20e3 | 0x1f1e6..=0x1f1ff | 0x1f300..=0x1faff)
}

/// How many stocks or coins a text names.
pub(super) fn cashtags(text: &str) -> usize {
    let is_name = |name: &str| {
        let letters = name.chars().take_while(char::is_ascii_alphabetic).count();
        (1..=6).contains(&letters)
            && !name[letters..].starts_with(|c: char| c.is_ascii_alphanumeric())
    };
    text.split_whitespace()
        .filter_map(|word| word.strip_prefix('$'))
        .filter(|it| is_name(it))
        .count()
}

/// The addresses in a text, with a scheme.
pub(super) fn links(text: &str) -> Vec<&str> {
    text.split_whitespace().map(|word| around(word).1).filter(|it| it.contains("://")).collect()
}

#[cfg(test)]
mod tests {
    use super::{cashtags, length};

    #[test]
    fn texts_are_weighed() {
        for (text, units) in [
            ("abc", 3),
            ("日本", 4),
            ("👩‍👩‍👧", 2),
            ("see https://example.org/a-very-long-path, now", 4 + 23 + 1 + 4),
            ("(http://a.io)", 25),
            ("a\nb", 3),
        ] {
            assert_eq!(length(text), units, "{text}");
        }
    }

    #[test]
    fn cashtags_are_counted() {
        assert_eq!(cashtags("$ABC and $defg! but not $ABCDEFG, $1 or a$b"), 2);
    }
}
