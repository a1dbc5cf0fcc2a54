//! JSON of others with characters that no text here can hold: U+0000, which PostgreSQL does not store, and halves of
//! surrogate pairs, which are no characters.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

const MARK: &[u8] = "\u{feff}".as_bytes();

/// The most places at which JSON behind other output is looked for.
const PLACES_MAX: usize = 20;

/// Parses JSON behind other output, such as a server's notices, that lasts to the end of the body.
///
/// # Errors
/// There is none, or it is not the expected one.
pub fn read_behind_output<T: DeserializeOwned>(body: &[u8]) -> serde_json::Result<T> {
    let failed = match read(body) {
        Ok(read) => return Ok(read),
        Err(failed) => failed,
    };
    let body = body.trim_ascii_end();
    // A page ends otherwise.
    let Some(first) = body.last().and_then(|last| match last {
        b'}' => Some(b'{'),
        b']' => Some(b'['),
        _ => None,
    }) else {
        return Err(failed);
    };
    let starts = body.iter().enumerate().filter(|(_, byte)| **byte == first);
    let mut reads = starts.take(PLACES_MAX).filter_map(|(at, _)| read(&body[at..]).ok());
    reads.next().ok_or(failed)
}

/// Parses JSON. What cannot be a character is left out or replaced, so that one odd text does not cost all the others.
///
/// # Errors
/// It is not the expected JSON.
pub fn read<T: DeserializeOwned>(body: &[u8]) -> serde_json::Result<T> {
    // Some programs put the mark of UTF-8 in front.
    let body = body.strip_prefix(MARK).unwrap_or(body);
    let has_nul = body.windows(6).any(|part| part == br"\u0000");
    if !has_nul && let Ok(read) = serde_json::from_slice(body) {
        return Ok(read);
    }
    serde_json::from_str(&repaired(&String::from_utf8_lossy(body)))
}

/// Returns JSON without escapes of U+0000, and with U+FFFD for each half of a pair that stands alone.
fn repaired(text: &str) -> Cow<'_, str> {
    if !text.contains(r"\u") {
        return text.into();
    }
    let (mut good, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(place) = rest.find('\\') {
        good.push_str(&rest[..place]);
        rest = &rest[place..];
        let length = match unit(rest) {
            Some(0) => 6,
            Some(0xd800..=0xdbff)
                if matches!(rest.get(6..).and_then(unit), Some(0xdc00..=0xdfff)) =>
            {
                good.push_str(&rest[..12]);
                12
            }
            Some(0xd800..=0xdfff) => {
                good.push_str(r"\ufffd");
                6
            }
            // Another escape: the backslash and what follows it.
            _ => {
                let length = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                good.push_str(&rest[..length]);
                length
            }
        };
        rest = &rest[length..];
    }
    good.push_str(rest);
    good.into()
}

/// Returns the UTF-16 unit of the escape at the beginning of a text.
fn unit(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix(r"\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{read, read_behind_output};

    #[test]
    fn a_mark_in_front_costs_nothing() {
        assert_eq!(read::<Value>("\u{feff}{\"id\": 1}".as_bytes()).unwrap(), json!({"id": 1}));
    }

    #[test]
    fn json_behind_other_output_is_read_to_the_end_of_the_body() {
        let notice = "<br />\n<b>Notice</b>: Undefined {x} index [0] in <b>a.php</b><br />\n";
        for (sent, wanted) in [
            (format!("{notice}{{\"id\": 1}}\n"), Some(json!({"id": 1}))),
            (format!("\u{feff}{notice}[1]"), Some(json!([1]))),
            ("{\"id\": 1}".to_owned(), Some(json!({"id": 1}))),
            (format!("{notice}{{\"id\": 1}}</body></html>"), None),
            (format!("{notice}{{\"id\": 1"), None),
            (String::new(), None),
        ] {
            assert_eq!(read_behind_output::<Value>(sent.as_bytes()).ok(), wanted, "{sent}");
        }
    }

    #[test]
    fn an_odd_character_costs_nothing_else() {
        for (sent, wanted) in [
            (r#"["a\u0000b"]"#, json!(["ab"])),
            (r#"["\ud83d\ude00 ok"]"#, json!(["\u{1f600} ok"])),
            (
                r#"["\ud83d", "\ude00", "\ud83dx\u0041"]"#,
                json!(["\u{fffd}", "\u{fffd}", "\u{fffd}xA"]),
            ),
            (r#"["\\u0000", "\\\u0000", "\"\\"]"#, json!([r"\u0000", r"\", "\"\\"])),
            (r#"{"\u0000k": "\u00e4\n"}"#, json!({"k": "ä\n"})),
            (r#"["ü\u0000ü", "\ud83d"]"#, json!(["üü", "\u{fffd}"])),
        ] {
            assert_eq!(read::<Value>(sent.as_bytes()).unwrap(), wanted, "{sent}");
        }
        assert_eq!(read::<Value>(b"[\"\xff\"]").unwrap(), json!(["\u{fffd}"]));
        for bad in [r#"["\u0000"#, r"\u0000", "", r#"["\u00"]"#, r#"["\x"]"#] {
            assert!(read::<Value>(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
