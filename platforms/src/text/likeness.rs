//! Compares a text with the one that a network shows. Networks change texts on the way: they compose and escape
//! characters, trim and fold white space, drop invisible characters, shorten links and cut ends.

use unicode_normalization::UnicodeNormalization;

use super::{invisible::is_invisible, without_x_links};

/// How well what a network shows matches what was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// It is something else.
    Different,
    /// It may be the same, changed by the network.
    Similar,
    /// It is the same, apart from changes that networks are known to make.
    Same,
}

/// The most characters of two texts that are compared one by one.
const COMPARED_MAX: usize = 600;

/// The fewest characters by which a text that was cut can be recognized.
const CUT_MIN: usize = 16;

/// The share of equal characters from which two texts resemble each other.
const RESEMBLANCE: f64 = 0.8;

/// The number of times that a text may have been escaped.
const ESCAPES_MAX: usize = 3;

/// Returns how well a text that a network shows matches the one that was sent. Two texts without any words are
/// [`Likeness::Similar`]: they say nothing about each other.
#[must_use]
pub fn likeness(sent: &str, shown: &str) -> Likeness {
    compare(&canonical(sent), &canonical(shown))
}

/// Like [`likeness`], for a network that replaces links by its own short ones and adds those of files.
#[must_use]
pub fn likeness_without_links(sent: &str, shown: &str) -> Likeness {
    let plain = |text: &str| {
        let kept = without_x_links(&unescaped(text));
        let words = kept.split_whitespace().filter(|word| !word.contains("://"));
        canonical(&words.collect::<Vec<_>>().join(" "))
    };
    compare(&plain(sent), &plain(shown))
}

/// Returns true if two texts of our own would look the same on a network.
#[must_use]
pub fn are_alike(one: &str, other: &str) -> bool {
    likeness(one, other) != Likeness::Different
}

/// Returns true if there is anything in a text that a network would show.
#[must_use]
pub fn has_words(text: &str) -> bool {
    !canonical(text).is_empty()
}

pub(super) fn compare(sent: &str, shown: &str) -> Likeness {
    if sent == shown {
        return if sent.is_empty() { Likeness::Similar } else { Likeness::Same };
    }
    let (sent, shown) = (bare(sent), bare(shown));
    if sent == shown || is_cut(&sent, &shown) || is_cut(&shown, &sent) || resemble(&sent, &shown) {
        Likeness::Similar
    } else {
        Likeness::Different
    }
}

/// Returns a text in the form in which all spellings of it are equal: composed, without escapes and invisible
/// characters, white space folded, links in one form.
#[must_use]
pub fn canonical(text: &str) -> String {
    let text = unescaped(text);
    let seen = text.nfc().filter(|sign| !is_invisible(*sign) && !is_variation(*sign));
    let seen: String = seen.collect();
    seen.split_whitespace().map(canonical_word).collect::<Vec<_>>().join(" ")
}

const fn is_variation(sign: char) -> bool {
    matches!(sign, '\u{fe00}'..='\u{fe0f}')
}

/// Returns an address without what networks drop or change: the scheme and its port, `www.`, the case of its host,
/// parameters that only count visits, the slash at its end. Any other word stays, and what stands around the address.
fn canonical_word(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    if !scheme.ends_with("http") && !scheme.ends_with("https") {
        return word.to_owned();
    }
    let start = scheme.trim_end_matches('s').trim_end_matches("http");
    let (address, after) = rest.split_at(rest.find(['"', '<', '>']).unwrap_or(rest.len()));
    let address_only = address.trim_end_matches(AFTER_ADDRESS);
    let (closing, address) = (&address[address_only.len()..], address_only);
    let (address, fragment) = address.split_at(address.find('#').unwrap_or(address.len()));
    let (host, path) = address.find(['/', '?']).map_or((address, ""), |at| address.split_at(at));
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let kept = query.split('&').filter(|one| !one.is_empty() && !counts_visits(one));
    let query = kept.collect::<Vec<_>>().join("&");
    let mark = if query.is_empty() { "" } else { "?" };
    let (host, path) = (canonical_host(host), path.trim_end_matches('/'));
    format!("{start}://{host}{path}{mark}{query}{fragment}{closing}{after}")
}

/// Signs that end an address in a text rather than belong to it.
const AFTER_ADDRESS: [char; 9] = [')', ']', '.', ',', ';', ':', '!', '?', '\''];

fn canonical_host(host: &str) -> String {
    let host = host.to_lowercase();
    let host = host.strip_suffix(":443").or_else(|| host.strip_suffix(":80")).unwrap_or(&host);
    host.trim_start_matches("www.").to_owned()
}

/// Beginnings of parameters that count visits, which networks take out of addresses.
const COUNTERS: [&str; 17] = [
    "utm_", "fbclid=", "gclid=", "gbraid=", "wbraid=", "dclid=", "msclkid=", "yclid=", "twclid=",
    "ttclid=", "igshid=", "igsh=", "mc_cid=", "mc_eid=", "_hsenc=", "_hsmi=", "ref_src=",
];

fn counts_visits(parameter: &str) -> bool {
    COUNTERS.iter().any(|name| parameter.starts_with(name))
}

/// Decodes character references, also of a text that was escaped more than once.
fn unescaped(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..ESCAPES_MAX {
        if !text.contains('&') {
            break;
        }
        let decoded = decoded(&text);
        if decoded == text {
            break;
        }
        text = decoded;
    }
    text
}

fn decoded(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(12).position(|byte| byte == b';');
        match end.and_then(|end| Some((end, character(&rest[1..end])?))) {
            Some((end, sign)) => {
                kept.push(sign);
                rest = &rest[end + 1..];
            }
            None => {
                kept.push('&');
                rest = &rest[1..];
            }
        }
    }
    kept + rest
}

/// Returns the character of a reference, without its `&` and `;`: those of XML and HTML that programs make, and numbers.
fn character(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => '\u{a0}',
        "hellip" => '…',
        "ndash" => '–',
        "mdash" => '—',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        _ => {
            let digits = name.strip_prefix('#')?;
            let number = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(number)?
        }
    })
}

/// Returns the letters and digits of a text, in lower case, without links: what is left however a network changes it.
/// Signs stay where there is nothing else.
pub(super) fn bare(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| !word.contains("://"));
    let letters: String = words
        .flat_map(str::chars)
        .filter(|sign| sign.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .nfkc()
        .collect();
    if letters.is_empty() { text.to_owned() } else { letters }
}

/// Returns true if `short` is the beginning of `whole`, and long enough to tell. Two texts that are numbered are not
/// one text that was cut within its number.
pub(super) fn is_cut(whole: &str, short: &str) -> bool {
    let Some(rest) = whole.strip_prefix(short) else { return false };
    let digit = |sign: Option<char>| sign.is_some_and(|sign| sign.is_ascii_digit());
    short.chars().count() >= CUT_MIN
        && !(digit(short.chars().next_back()) && digit(rest.chars().next()))
}

fn resemble(one: &str, other: &str) -> bool {
    let start = |text: &str| text.chars().take(COMPARED_MAX).collect::<String>();
    let (one, other) = (start(one), start(other));
    let (short, long) = (one.len().min(other.len()), one.len().max(other.len()));
    // The comparison takes the square of the length, and cannot come out otherwise.
    if (short as f64) < RESEMBLANCE * long as f64 / 2.0 {
        return false;
    }
    let numbers = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    numbers(&one) == numbers(&other) && strsim::normalized_levenshtein(&one, &other) >= RESEMBLANCE
}

#[cfg(test)]
mod tests {
    use unicode_normalization::UnicodeNormalization;

    use super::{Likeness, canonical, likeness, likeness_without_links};

    const SENT: &str = "Grüße aus Köln: 5 < 7 & \"neu\" — https://www.example.org/a/?utm_source=x&b=1 👩\u{200d}💻";

    #[test]
    fn what_networks_change_is_the_same() {
        let escaped = SENT.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        for shown in [
            SENT.nfd().collect::<String>(),
            escaped.clone(),
            escaped.replace('&', "&amp;"),
            escaped.replace('"', "&#34;").replace("—", "&mdash;"),
            format!("  {}\r\n", SENT.replace(' ', "\u{a0}\n")),
            SENT.replace('\u{200d}', ""),
            SENT.replace("Köln", "Kö\u{ad}ln\u{200b}"),
            SENT.replace("utm_source=x&", "fbclid=y&"),
            SENT.replace("utm_source=x&", "").replace("example.org/", "example.org:443/"),
            SENT.replace("https://www.example.org/a/?utm_source=x&b=1", "http://EXAMPLE.org/a?b=1"),
        ] {
            assert_eq!(likeness(SENT, &shown), Likeness::Same, "{shown:?}");
            assert_eq!(likeness(&shown, SENT), Likeness::Same, "{shown:?}");
        }
    }

    #[test]
    fn an_address_is_the_same_whatever_stands_around_it() {
        for (sent, shown) in [
            ("[a](https://a.example/?utm_source=x) b", "[a](https://a.example) b"),
            ("(https://a.example/b/?gclid=1).", "(http://www.A.example/b)."),
            (
                "<a href=\"https://a.example/?utm_source=x\">b</a>",
                "<a href=\"https://a.example/\">b</a>",
            ),
            ("https://a.example/?utm_source=x#part", "https://a.example/#part"),
            ("https://a.example/b_(c)", "https://a.example/b_(c)"),
        ] {
            assert_eq!(likeness(sent, shown), Likeness::Same, "{sent} {shown}");
        }
        assert_ne!(likeness("https://a.example/#a", "https://a.example/#b"), Likeness::Same);
    }

    #[test]
    fn what_was_cut_or_reworded_is_a_doubt() {
        for shown in [
            "Grüße aus Köln: 5 < 7 & \"neu\" …",
            "Grüße aus Köln: 5 7 neu 👩💻",
            "GRÜSSE AUS KÖLN: 5 < 7 & \"NEU\"",
            "Grüsse aus Köln: 5 < 7 & \"neu\" — https://sho.rt/x",
        ] {
            assert_eq!(likeness(SENT, shown), Likeness::Similar, "{shown:?}");
        }
        assert_eq!(likeness("", " \u{200b}"), Likeness::Similar);
        assert_eq!(likeness("a b", "https://a.example a b"), Likeness::Similar);
    }

    #[test]
    fn other_texts_are_different() {
        for (sent, shown) in [
            (SENT, "Something else"),
            (SENT, ""),
            ("", "words"),
            ("Only once, number 1", "Only once, number 2"),
            ("Only once, number 1", "Only once, number 11"),
            ("Only once, number 10", "Only once, number 101"),
            ("one", "two"),
            ("Hi", "Hi there, how are you today?"),
        ] {
            assert_eq!(likeness(sent, shown), Likeness::Different, "{sent:?} {shown:?}");
        }
    }

    #[test]
    fn short_links_of_the_network_do_not_count() {
        for (sent, shown) in [
            ("Look: https://example.org/a  now", "Look:\nhttps://t.co/x now "),
            ("see example.com now", "see https://t.co/x now"),
            ("(example.co.uk/a_(b)), or t.co/y", "(https://t.co/x), or https://t.co/z"),
            ("これはexample.comです", "これはhttps://t.co/xです"),
            ("a picture &", "a picture &amp; https://t.co/x"),
            ("https://a.example stays", "https://a.example stays"),
        ] {
            assert_eq!(likeness_without_links(sent, shown), Likeness::Same, "{sent}");
        }
        assert_eq!(likeness_without_links("Look", "Look here"), Likeness::Different);
        let long = "x ".repeat(200);
        let cut = format!("{}… https://t.co/abc", &long[..270]);
        assert_eq!(likeness_without_links(&long, &cut), Likeness::Similar);
    }

    #[test]
    fn the_canonical_form_of_a_canonical_form_is_the_same() {
        for text in [SENT, "a&b;c", "&amp;amp;lt;", "ftp://A.example/ x://y", "  "] {
            assert_eq!(canonical(&canonical(text)), canonical(text), "{text:?}");
        }
    }
}
