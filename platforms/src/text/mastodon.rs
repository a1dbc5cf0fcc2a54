//! Mastodon's way of counting: an address counts as 23 characters, a mention only as its name, and a grapheme as one
//! character. <https://docs.joinmastodon.org/user/posting/#text>

use unicode_segmentation::UnicodeSegmentation;

use super::link::{LinkRules, is_accented, links};

/// The placeholder of an address while its text is counted.
const ADDRESS: &str = "xxxxxxxxxxxxxxxxxxxxxxx";

/// Mastodon's rules for addresses: only with a scheme, and nearly anything in the path.
const RULES: LinkRules = LinkRules {
    schemes: &[
        "https://",
        "http://",
        "dat://",
        "dweb://",
        "ipfs://",
        "ipns://",
        "ssb://",
        "gopher://",
        "gemini://",
    ],
    bare: false,
    path: |c| !c.is_whitespace() && !"<>()?".contains(c),
    path_end: |c| !c.is_whitespace() && !"()?!*\"'「」<>;:=,.$%[]~&|@".contains(c),
    query: |c| c.is_ascii_alphanumeric() || "!?*'();:&=+$/%#[]-_.,~|@^".contains(c) || is_wide(c),
    query_end: |c| c.is_ascii_alphanumeric() || "_&=#/-".contains(c) || is_wide(c),
};

fn is_wide(c: char) -> bool {
    c >= '\u{a0}'
}

/// Counts a text as Mastodon does.
#[must_use]
pub fn mastodon_units(text: &str) -> usize {
    let mut counted = String::with_capacity(text.len());
    let mut at = 0;
    for link in links(text, &RULES) {
        without_hosts(&text[..link.start], at, &mut counted);
        counted.push_str(ADDRESS);
        at = link.end;
    }
    without_hosts(text, at, &mut counted);
    counted.graphemes(true).count()
}

/// Appends the text from `from` on, without the hosts of mentions.
fn without_hosts(text: &str, from: usize, counted: &mut String) {
    let mut at = from;
    while let Some(sign) = text[at..].find('@').map(|offset| at + offset) {
        let before = text[..sign].chars().next_back();
        let name = dotted(&text[sign + 1..], |c| c.is_ascii_alphanumeric() || c == '_');
        if name == 0 || before.is_some_and(|c| is_word(c) || c == '=' || c == '/') {
            counted.push_str(&text[at..=sign]);
            at = sign + 1;
            continue;
        }
        let name_end = sign + 1 + name;
        let host = text[name_end..].strip_prefix('@').map_or(0, |host| dotted(host, is_word));
        let end = if host > 0 { name_end + 1 + host } else { name_end };
        let seen = if goes_on(&text[end..]) { end } else { name_end };
        counted.push_str(&text[at..seen]);
        at = end;
    }
    counted.push_str(&text[at..]);
}

/// Returns the length of words joined by dots or hyphens.
fn dotted(text: &str, is_word: fn(char) -> bool) -> usize {
    let end = text.find(|c| !is_word(c) && !matches!(c, '.' | '-')).unwrap_or(text.len());
    let name = text[..end].trim_end_matches(['.', '-']);
    if name.starts_with(is_word) { name.len() } else { 0 }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns true if the following text means that this is not a mention.
fn goes_on(rest: &str) -> bool {
    rest.starts_with(['@', '＠']) || rest.starts_with("://") || rest.starts_with(is_accented)
}

#[cfg(test)]
mod tests {
    use super::mastodon_units;

    #[test]
    fn addresses_and_hosts_of_mentions_are_cheap() {
        let long = format!("https://example.org/{}", "a".repeat(300));
        for (text, units) in [
            (long.as_str(), 23),
            ("http://a.io", 23),
            ("see https://example.org.", 4 + 23 + 1),
            ("(https://example.org/a_(b))", 25),
            ("ipfs://example.org/x", 23),
            ("https://example.org/日本語", 23),
            ("https://example.org?q=é#x", 23),
            // Nothing without a scheme and a known ending is an address there.
            ("example.org", 11),
            ("https://a.b", 11),
            ("https://localhost/x", 19),
            ("@ann@mastodon.example hi", 7),
            ("@ann hi", 7),
            ("@ann.b-c@host.example.", 9),
            ("mail ann@host.example", 21),
            ("a/@ann@host.example", 19),
            ("@ann@host.example@x", 19),
            ("@ann@", 5),
            ("👩‍👩‍👧 e\u{301} 🇩🇪", 5),
            ("a\r\nb", 3),
            ("", 0),
        ] {
            assert_eq!(mastodon_units(text), units, "{text}");
        }
    }
}
