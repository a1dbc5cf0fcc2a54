//! Top-level domains, from IANA's list.

use std::{collections::HashSet, sync::LazyLock};

/// Longest top-level domain written in its own script, in characters.
const CHARS_MAX: usize = 24;

/// Top-level domains that are not written in ASCII, decoded.
static INTERNATIONAL: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let encoded = tld::TLD.iter().filter_map(|name| name.strip_prefix("xn--"));
    encoded.filter_map(idna::punycode::decode_to_string).collect()
});

/// Returns true for a top-level domain in ASCII, in upper or lower case.
pub fn is_known(name: &str) -> bool {
    name.len() <= 63 && tld::exist(&name.to_ascii_lowercase())
}

/// Returns the length in bytes of the top-level domain at the start of `label`; `after` is the character after the
/// label. If a Latin letter, a digit or an @ follows, it is another word.
pub fn at_start(label: &str, after: Option<char>) -> Option<usize> {
    let ends = |at: usize| {
        let next = label[at..].chars().next().or(after.filter(|_| at == label.len()));
        next.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '@')
    };
    let ascii = label.bytes().take_while(u8::is_ascii_alphanumeric).count();
    if label.len() > 4 && label.as_bytes()[..4].eq_ignore_ascii_case(b"xn--") {
        let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        return Some(label.bytes().take_while(is_inner).count());
    }
    if ascii > 0 && ends(ascii) && is_known(&label[..ascii]) {
        return Some(ascii);
    }
    let stops = label.char_indices().skip(1).take(CHARS_MAX).map(|(at, _)| at);
    let stops: Vec<usize> = if label.is_ascii() { Vec::new() } else { stops.collect() };
    let whole = (!label.is_ascii()).then_some(label.len());
    let candidates = whole.into_iter().chain(stops.into_iter().rev());
    candidates
        .filter(|at| *at <= CHARS_MAX * 4 && ends(*at))
        .find(|at| is_international(&label[..*at]))
}

fn is_international(name: &str) -> bool {
    INTERNATIONAL.contains(name) || INTERNATIONAL.contains(&name.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::at_start;

    #[test]
    fn the_longest_domain_that_ends_there_is_taken() {
        for (label, after, length) in [
            ("com", None, Some(3)),
            ("COM", Some('/'), Some(3)),
            ("com", Some('@'), None),
            ("comm", None, None),
            ("com-that", None, Some(3)),
            ("com中国語t", None, Some(3)),
            ("рф", None, Some("рф".len())),
            ("РФ", None, Some("рф".len())),
            ("рфx", None, None),
            ("中国語", None, Some("中国".len())),
            ("xn--p1ai", None, Some(8)),
            ("example", None, None),
            ("", None, None),
        ] {
            assert_eq!(at_start(label, after), length, "{label}");
        }
    }
}
