//! JSON of others with characters that no text here can hold: U+0000, which PostgreSQL does not store, and halves of
//! surrogate pairs, which are no characters.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

/// Parses JSON. What cannot be a character is left out or replaced, so that one odd text does not cost all the others.
///
/// # Errors
/// It is not the expected JSON.
pub fn read<T: DeserializeOwned>(body: &[u8]) -> serde_json::Result<T> {
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

    use super::read;

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
