//! Web addresses in a text.

use url::Url;

/// The first address that the text holds.
#[must_use]
pub fn first_address(text: &str) -> Option<&str> {
    let starts = text.char_indices().filter(|(_, c)| matches!(c, 'h' | 'H'));
    starts
        .map(|(at, _)| (at, text[..at].chars().next_back()))
        .find_map(|(at, before)| address_at(&text[at..], before))
}

/// The address that starts here, if one does. Letters of scripts without spaces may stand right before it, those of a
/// longer word may not.
#[must_use]
pub fn address_at(rest: &str, before: Option<char>) -> Option<&str> {
    let scheme = ["https://", "http://"].into_iter().find(|scheme| {
        rest.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })?;
    if before.is_some_and(|c| c.is_ascii_alphanumeric()) {
        return None;
    }
    let end = rest.find(ends_address).unwrap_or(rest.len());
    let address = without_trailing(&rest[..end]);
    let has_host = Url::parse(address).is_ok_and(|url| url.has_host());
    (address.len() > scheme.len() && has_host).then_some(address)
}

fn ends_address(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '<' | '>' | '"' | '“' | '”' | '、' | '。' | '「' | '」' | '（' | '）')
}

/// Leaves out punctuation of the sentence around an address, and a bracket that was opened before it.
fn without_trailing(address: &str) -> &str {
    let mut address = address;
    while let Some(last) = address.chars().next_back() {
        let opening = match last {
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '…' => None,
            ')' => Some('('),
            ']' => Some('['),
            '}' => Some('{'),
            _ => break,
        };
        let count = |wanted: char| address.chars().filter(|c| *c == wanted).count();
        if opening.is_some_and(|opening| count(opening) >= count(last)) {
            break;
        }
        address = &address[..address.len() - last.len_utf8()];
    }
    address
}

#[cfg(test)]
mod tests {
    use super::first_address;

    #[test]
    fn the_first_address_is_found() {
        for (text, address) in [
            ("see https://a.example/b, then http://c.example", Some("https://a.example/b")),
            ("oh, (HTTP://a.example/b_(c))", Some("HTTP://a.example/b_(c)")),
            ("xhttp://a.example", None),
            ("https:// http", None),
        ] {
            assert_eq!(first_address(text), address, "{text}");
        }
    }
}
