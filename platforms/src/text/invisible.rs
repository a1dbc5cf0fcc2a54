//! Invisible characters: in identifiers that people paste, and in texts that show nothing.

/// Returns a pasted identifier (a handle, id, address or token) without surrounding white space and without the
/// invisible characters that editors, chats and pages insert: zero-width characters, byte order marks, direction marks,
/// soft hyphens. A joiner between two non-ASCII characters is part of a word or an emoji and stays.
#[must_use]
pub fn clean_identifier(given: &str) -> String {
    let mut kept = String::with_capacity(given.len());
    let mut signs = given.chars().peekable();
    while let Some(sign) = signs.next() {
        let mut joins = || {
            let wide = |sign: char| !sign.is_ascii() && !is_invisible(sign);
            matches!(sign, '\u{200c}' | '\u{200d}')
                && kept.chars().next_back().is_some_and(wide)
                && signs.peek().copied().is_some_and(wide)
        };
        if !is_invisible(sign) || joins() {
            kept.push(sign);
        }
    }
    kept.trim().to_owned()
}

/// Returns true for a text that shows nothing: white space and invisible characters alone.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|sign| sign.is_whitespace() || is_invisible(sign))
}

/// Returns true for zero-width characters that have no meaning in an identifier.
pub(super) const fn is_invisible(sign: char) -> bool {
    matches!(
        sign,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::{clean_identifier, is_blank};

    #[test]
    fn what_nobody_sees_is_left_out() {
        for (given, kept) in [
            ("\u{feff}https://a.example/x\u{200b}", "https://a.example/x"),
            ("\u{202a}@news\u{202c}", "@news"),
            ("\u{2066}123456\u{2069}", "123456"),
            (" abcd efgh\u{a0}\n", "abcd efgh"),
            ("to\u{ad}ken\u{2060}", "token"),
            ("na\u{200d}me\u{200c}", "name"),
            ("\u{200e}\u{200f}\u{61c}", ""),
            ("https://a.example/👩\u{200d}💻", "https://a.example/👩\u{200d}💻"),
            ("https://نامه\u{200c}ای.example", "https://نامه\u{200c}ای.example"),
            ("https://a.example/é?q=%20", "https://a.example/é?q=%20"),
        ] {
            assert_eq!(clean_identifier(given), kept, "{given:?}");
        }
    }

    #[test]
    fn a_text_that_shows_nothing_is_blank() {
        for text in ["", " \n\t", "\u{200b}", "\u{feff} \u{2060}\u{ad}", "\u{202e}\u{200d}"] {
            assert!(is_blank(text), "{text:?}");
        }
        for text in ["a", "\u{200b}.", "👩\u{200d}💻", "\u{2800}"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }
}
