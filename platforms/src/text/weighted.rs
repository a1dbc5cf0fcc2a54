//! How X counts: most letters as one, all others and each emoji as two, each address as 23.
//! <https://docs.x.com/fundamentals/counting-characters>, whose table this is.

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use super::emoji;

/// What an address counts, however long it is: X puts a short one in its place.
const ADDRESS: usize = 23;

/// Code points that count as one.
const LIGHT: [(u32, u32); 4] = [(0, 4_351), (8_192, 8_205), (8_208, 8_223), (8_242, 8_247)];

/// Endings by which X takes a name for an address although no scheme stands before it. It knows them all; these are
/// those that people write.
const ENDINGS: [&str; 14] = [
    "com", "org", "net", "edu", "gov", "info", "dev", "app", "blog", "shop", "news", "social",
    "example", "online",
];

/// What X counts.
#[must_use]
pub fn x_units(text: &str) -> usize {
    let text: String = text.nfc().collect();
    let addresses = addresses(&text);
    let linked: usize = addresses.iter().map(|address| plain(address)).sum();
    plain(&text) - linked + addresses.len() * ADDRESS
}

fn plain(text: &str) -> usize {
    let of_char = |c: char| {
        let code = u32::from(c);
        if LIGHT.iter().any(|(first, last)| (*first..=*last).contains(&code)) { 1 } else { 2 }
    };
    let of_one = |one: &str| if emoji::is_emoji(one) { 2 } else { one.chars().map(of_char).sum() };
    text.graphemes(true).map(of_one).sum()
}

/// The addresses that stand in a text, without what ends the sentence.
fn addresses(text: &str) -> Vec<&str> {
    const TRAILING: [char; 12] = ['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '>'];
    let words = text.split(|c: char| c.is_whitespace() || "<>()[]{}\"".contains(c));
    words.map(|word| word.trim_end_matches(TRAILING)).filter(|word| is_address(word)).collect()
}

fn is_address(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let schemed = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://"));
    let rest = schemed.unwrap_or(&lower);
    let host = rest.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let Some((name, ending)) = host.rsplit_once('.') else { return false };
    let is_host =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '.');
    is_host && (schemed.is_some() || ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::x_units;

    #[test]
    fn letters_have_weights() {
        for (text, units) in [
            ("abc", 3),
            ("äöü", 3),
            ("e\u{301}", 1),
            ("日本", 4),
            ("한", 2),
            ("“quoted”", 8),
            ("👩‍👩‍👧", 2),
            ("🇩🇪", 2),
            ("❤️", 2),
            ("", 0),
        ] {
            assert_eq!(x_units(text), units, "{text}");
        }
    }

    #[test]
    fn an_address_counts_the_same_however_long_it_is() {
        let long = format!("https://example.org/{}", "a".repeat(300));
        for (text, units) in [
            (long.as_str(), 23),
            ("http://a.io", 23),
            ("see example.com.", 4 + 23 + 1),
            ("(https://a.example/x?y=1)", 25),
            ("file.txt", 8),
            ("e.g. this", 9),
            ("https://", 8),
        ] {
            assert_eq!(x_units(text), units, "{text}");
        }
    }
}
