//! A strict JSON parser for request bodies: it refuses duplicate keys and byte order marks, and limits the depth, the
//! number of values and the length of keys.

use std::{cell::Cell, fmt};

use fanfare_core::{error::excerpt, input::whole};
use serde::{
    Deserializer,
    de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

/// The deepest nesting of arrays and objects.
const DEEPEST: usize = 64;

/// The most values of a body, counting those inside lists and objects.
const MOST_VALUES: usize = 20_000;

/// The longest key, in bytes.
const LONGEST_KEY: usize = 256;

/// Parses one JSON value; anything after it is an error.
///
/// # Errors
/// A sentence that says what is wrong.
pub fn parse(bytes: &[u8]) -> Result<Value, String> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err("The body starts with a byte order mark.".to_owned());
    }
    let text = std::str::from_utf8(bytes).map_err(|_| "The body is not UTF-8.".to_owned())?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let values = Cell::new(0);
    let value = Strict { left: DEEPEST, values: &values }.deserialize(&mut reader);
    let whole = value.and_then(|value| reader.end().map(|()| value));
    whole.map_err(|error| format!("The body is not JSON that can be read: {error}."))
}

/// Reads one value with the remaining depth, and counts values.
#[derive(Clone, Copy)]
struct Strict<'a> {
    left: usize,
    values: &'a Cell<usize>,
}

impl Strict<'_> {
    fn below<E: serde::de::Error>(self) -> Result<Self, E> {
        let too_deep = || E::custom(format!("it is nested deeper than {DEEPEST} levels"));
        self.left.checked_sub(1).map(|left| Self { left, ..self }).ok_or_else(too_deep)
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.values.set(self.values.get() + 1);
        if self.values.get() > MOST_VALUES {
            return Err(D::Error::custom(format!("it has more than {MOST_VALUES} values")));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    // By JSON Schema, `3.0` is an integer.
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(whole(value).unwrap_or_else(|| value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let below = self.below()?;
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(below)? {
            values.push(value);
        }
        Ok(values.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let below = self.below()?;
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if key.len() > LONGEST_KEY {
                let message = format!("a key is longer than {LONGEST_KEY} bytes");
                return Err(A::Error::custom(message));
            }
            if object.contains_key(&key) {
                let message = format!("the key {:?} stands twice", excerpt(&key));
                return Err(A::Error::custom(message));
            }
            let value = entries.next_value_seed(below)?;
            object.insert(key, value);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::parse;

    #[test]
    fn ordinary_json_is_read_as_it_is() {
        let text = r#"{"a": [1, -2, 3.5, "ä\u0041", true, null], "b": {"a": {}}, "c": 18446744073709551615}"#;
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(parse(text.as_bytes()), Ok(value));
    }

    #[test]
    fn a_key_may_stand_once_at_any_depth_however_it_is_written() {
        for text in [r#"{"a":1,"a":1}"#, r#"{"x":[{"b":1,"\u0062":2}]}"#, r#"{"":1,"":2}"#] {
            assert!(parse(text.as_bytes()).unwrap_err().contains("stands twice"), "{text}");
        }
        assert!(parse(br#"{"a":{"a":1},"b":{"a":1}}"#).is_ok());
    }

    #[test]
    fn nesting_ends_at_64_levels() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(parse(nested(64).as_bytes()).is_ok());
        assert!(parse(nested(65).as_bytes()).unwrap_err().contains("deeper"));
        let objects = r#"{"a":"#.repeat(65) + "1" + &"}".repeat(65);
        assert!(parse(objects.as_bytes()).unwrap_err().contains("deeper"));
        assert!(parse(nested(100_000).as_bytes()).is_err());
    }

    #[test]
    fn values_and_the_length_of_keys_are_bounded() {
        let list = |values: usize| format!("[{}1]", "1,".repeat(values - 2));
        assert!(parse(list(20_000).as_bytes()).is_ok());
        assert!(parse(list(20_001).as_bytes()).unwrap_err().contains("more than 20000 values"));
        let objects = format!("[{}1]", r#"{"a":{}},"#.repeat(10_000));
        assert!(parse(objects.as_bytes()).unwrap_err().contains("more than 20000 values"));
        let keyed = |length: usize| format!(r#"{{"{}":1}}"#, "k".repeat(length));
        assert!(parse(keyed(256).as_bytes()).is_ok());
        let error = parse(keyed(257).as_bytes()).unwrap_err();
        assert!(error.contains("longer than 256 bytes") && error.len() < 200, "{error}");
    }

    #[test]
    fn what_is_not_one_json_value_in_utf8_is_refused() {
        let bad: [&[u8]; 9] = [
            b"",
            b"{",
            b"{} {}",
            b"\xef\xbb\xbf{}",
            b"{\"a\":\"\xff\"}",
            b"{'a':1}",
            b"{\"a\":1,}",
            b"{\"a\":NaN}",
            b"\"\\ud800\"",
        ];
        for text in bad {
            assert!(parse(text).is_err(), "{}", String::from_utf8_lossy(text));
        }
        assert_eq!(parse(b" 1 "), Ok(json!(1)));
    }
}
