//! Web addresses in a text, where the network publishes no rules of its own.

use std::ops::Range;

use url::Url;

use super::tld;

/// Finds the addresses in a text in one pass.
#[derive(Debug, Default)]
pub struct Addresses {
    /// No address starts before this position: it follows a scheme without a valid address.
    barred: usize,
}

/// Returns the first address with a scheme in the text.
#[must_use]
pub fn first_address(text: &str) -> Option<&str> {
    let mut addresses = Addresses::default();
    let starts = text.char_indices().filter(|(_, c)| matches!(c, 'h' | 'H'));
    let found = starts.map(|(at, _)| addresses.at(text, at)).find_map(|range| range);
    found.map(|range| &text[range])
}

impl Addresses {
    /// Returns the address with a scheme that starts at `at`, if one does. It may directly follow letters of scripts
    /// without spaces, but not letters of a word. Must be called with ascending positions.
    pub fn at(&mut self, text: &str, at: usize) -> Option<Range<usize>> {
        let rest = &text[at..];
        let scheme = ["https://", "http://"].into_iter().find(|scheme| {
            rest.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        })?;
        let before = text[..at].chars().next_back();
        if at < self.barred || before.is_some_and(|c| c.is_ascii_alphanumeric()) {
            return None;
        }
        let end = rest.find(ends_address).unwrap_or(rest.len());
        let address = without_trailing(&rest[..end]);
        if address.len() > scheme.len() && Url::parse(address).is_ok_and(|url| url.has_host()) {
            return Some(at..at + address.len());
        }
        self.barred = at + end;
        None
    }
}

/// Returns the address without a scheme at the start of a word: a Latin name with a known top-level domain, as Bluesky's
/// own client finds it (`detectFacets` of @atproto/api).
pub fn bare_address(rest: &str) -> Option<&str> {
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric());
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '.';
    let name = rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())].trim_end_matches('.');
    let (_, ending) = name.rsplit_once('.')?;
    let known = name.len() <= NAME_MAX
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.split('.').all(is_part)
        && tld::is_known(ending);
    let follows = rest[name.len()..].chars().next();
    // A hyphen or a letter of another script continues the name, and an @ makes it part of an e-mail address.
    if !known || follows.is_some_and(|c| matches!(c, '-' | '_' | '@') || (c.is_alphanumeric())) {
        return None;
    }
    let end = rest.find(ends_address).unwrap_or(rest.len());
    let address = without_trailing(&rest[..end]);
    Url::parse(&format!("https://{address}")).is_ok().then_some(address)
}

/// Longest name of a host.
const NAME_MAX: usize = 253;

fn ends_address(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '<' | '>' | '"' | '“' | '”' | '、' | '。' | '「' | '」' | '（' | '）')
}

/// Removes trailing punctuation and a closing bracket that was opened before the address.
fn without_trailing(address: &str) -> &str {
    const PAIRS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('{', '}')];
    let mut open = [0_usize; 3];
    let mut closed = [0_usize; 3];
    for c in address.chars() {
        for (index, (opening, closing)) in PAIRS.iter().enumerate() {
            open[index] += usize::from(c == *opening);
            closed[index] += usize::from(c == *closing);
        }
    }
    let mut end = address.len();
    for c in address.chars().rev() {
        match PAIRS.iter().position(|(_, closing)| *closing == c) {
            Some(pair) if closed[pair] > open[pair] => closed[pair] -= 1,
            None if matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '…') => {}
            _ => break,
        }
        end -= c.len_utf8();
    }
    &address[..end]
}

#[cfg(test)]
mod tests {
    use super::{bare_address, first_address};

    #[test]
    fn the_first_address_is_found() {
        for (text, address) in [
            ("see https://a.example/b, then http://c.example", Some("https://a.example/b")),
            ("oh, (HTTP://a.example/b_(c))", Some("HTTP://a.example/b_(c)")),
            ("xhttp://a.example", None),
            ("https:// http", None),
            ("https://[ https://a.example", Some("https://a.example")),
        ] {
            assert_eq!(first_address(text), address, "{text}");
        }
    }

    #[test]
    fn a_name_with_a_known_ending_is_an_address() {
        for (text, address) in [
            ("example.com/foo or", Some("example.com/foo")),
            ("www.example.org.", Some("www.example.org")),
            ("example.co.uk)", Some("example.co.uk")),
            ("example.com:8080/x?y=1#z, and", Some("example.com:8080/x?y=1#z")),
            ("example.com…", Some("example.com")),
            ("example.com-foo", None),
            ("example.comé", None),
            ("ann@example.com", None),
            ("ann.b@example.com", None),
            ("node.js", None),
            ("e.g. this", None),
            ("3.com", None),
            ("a..com", None),
            ("word", None),
        ] {
            assert_eq!(bare_address(text), address, "{text}");
        }
    }
}
