//! Corrections that a program can apply: JSON Patch (RFC 6902) operations on the body of a refused request.

use std::{
    collections::{BTreeSet, HashSet},
    sync::OnceLock,
};

use chrono::{DateTime, SecondsFormat};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// The longest name that is compared with known names, in characters.
const COMPARED: usize = 64;

/// A JSON Patch (RFC 6902) operation on the request body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Fix {
    /// Adds a missing value.
    Add {
        /// Where the new value goes, as a JSON Pointer.
        path: String,
        /// The value.
        value: Value,
    },
    /// Moves a value to its right place.
    Move {
        /// Where it is, as a JSON Pointer.
        from: String,
        /// Where it belongs, as a JSON Pointer.
        path: String,
    },
    /// Removes a value.
    Remove {
        /// Where it is, as a JSON Pointer.
        path: String,
    },
    /// Replaces a value.
    Replace {
        /// Where it is, as a JSON Pointer.
        path: String,
        /// The new value.
        value: Value,
    },
}

impl Fix {
    /// Adds `value` as `field`.
    pub fn add(field: &str, value: impl Into<Value>) -> Self {
        Self::Add { path: pointer(field), value: value.into() }
    }

    /// Replaces the value of `field`.
    pub fn replace(field: &str, value: impl Into<Value>) -> Self {
        Self::Replace { path: pointer(field), value: value.into() }
    }

    /// Removes `field`.
    #[must_use]
    pub fn remove(field: &str) -> Self {
        Self::Remove { path: pointer(field) }
    }

    /// Renames the last step of `field` to `name`.
    #[must_use]
    pub fn rename(field: &str, name: &str) -> Self {
        Self::relocate(field, &sibling_field(field, name))
    }

    /// Moves the value of `field` to the field `to`.
    #[must_use]
    pub fn relocate(field: &str, to: &str) -> Self {
        Self::Move { from: pointer(field), path: pointer(to) }
    }
}

/// Returns the field of this name in the object that holds `field`.
#[must_use]
pub fn sibling_field(field: &str, name: &str) -> String {
    field.rsplit_once('.').map_or_else(|| name.to_owned(), |(parent, _)| format!("{parent}.{name}"))
}

/// Returns the JSON Pointer of a field: `settings.poll.options[2]` is at `/settings/poll/options/2`.
#[must_use]
pub fn pointer(field: &str) -> String {
    let mut pointer = String::with_capacity(field.len() + 1);
    for step in field.split('.') {
        let (name, places) = step.split_once('[').map_or((step, ""), |(name, rest)| (name, rest));
        if !name.is_empty() {
            pointer.push('/');
            pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
        }
        for place in places.split('[').filter(|place| !place.is_empty()) {
            pointer.push('/');
            pointer.push_str(place.trim_end_matches(']'));
        }
    }
    pointer
}

/// Says which names mean something in the service: fields, choices, settings.
static SAID: OnceLock<fn() -> BTreeSet<String>> = OnceLock::new();

/// Makes known which names mean something, so that none of them is taken for a misspelling of another one. They are asked
/// for when the first name is misspelled.
pub fn know_words(words: fn() -> BTreeSet<String>) {
    let _ = SAID.set(words);
}

/// Returns true if a name in snake case means something.
fn is_known(word: &str) -> bool {
    static WORDS: OnceLock<HashSet<String>> = OnceLock::new();
    let Some(said) = SAID.get() else { return false };
    let words = WORDS.get_or_init(|| said().iter().map(|word| snake_case(word)).collect());
    words.contains(word)
}

/// Returns the one known name that `given` is a misspelling of: it differs only in case, separators or a plural, or in a
/// few letters, and no other name is as close. A word that means something else is no misspelling: neither a name of
/// another place, nor one that a prefix tells apart, such as `unpublish` and `publish`.
#[must_use]
pub fn closest_name<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = snake_case(&given.chars().take(COMPARED).collect::<String>());
    let is_word = is_known(&given);
    let most = (given.chars().count() / 4).min(3);
    let mut near: Vec<_> = known
        .into_iter()
        .map(|name| (snake_case(name), name))
        .filter(
            |(plain, _)| {
                if is_word { is_plural(&given, plain) } else { !is_prefixed(&given, plain) }
            },
        )
        .map(|(plain, name)| {
            let distance = strsim::damerau_levenshtein(&given, &plain);
            let is_near = distance <= most || (distance == 1 && has_same_letters(&given, &plain));
            (distance, is_near, name)
        })
        .filter(|(_, is_near, _)| *is_near)
        .map(|(distance, _, name)| (distance, name))
        .collect();
    near.sort_unstable();
    match near.as_slice() {
        [(_, only)] => Some(only),
        [(first, best), (second, _), ..] if first < second => Some(best),
        _ => None,
    }
}

/// Returns true if two names have the same letters in another order, as short words do when two are swapped.
fn has_same_letters(one: &str, other: &str) -> bool {
    let sorted = |name: &str| {
        let mut letters: Vec<char> = name.chars().collect();
        letters.sort_unstable();
        letters
    };
    sorted(one) == sorted(other)
}

/// Returns true if the names are the same, but for the plural of one.
fn is_plural(one: &str, other: &str) -> bool {
    one == other || one.strip_suffix('s') == Some(other) || other.strip_suffix('s') == Some(one)
}

/// Returns true if two letters or more before a word of one name make the word of the other.
fn is_prefixed(one: &str, other: &str) -> bool {
    let extends = |long: &str, short: &str| long.len() >= short.len() + 2 && long.ends_with(short);
    let words = one.split('_').zip(other.split('_'));
    one.split('_').count() == other.split('_').count()
        && words.into_iter().any(|(one, other)| extends(one, other) || extends(other, one))
}

/// Converts a name to lower case with underscores: `mediaUrls` and `media-urls` are `media_urls`.
fn snake_case(name: &str) -> String {
    let mut plain = String::with_capacity(name.len() + 4);
    let mut after_small = false;
    for letter in name.trim().chars() {
        if letter.is_uppercase() && after_small {
            plain.push('_');
        }
        after_small = letter.is_lowercase() || letter.is_ascii_digit();
        match letter {
            '-' | ' ' | '.' => plain.push('_'),
            letter => plain.extend(letter.to_lowercase()),
        }
    }
    plain
}

/// Converts `value` to one of these JSON Schema types, if that is possible without loss and changes it. A number in a
/// field whose name ends in `_at` is read as a Unix time.
#[must_use]
pub fn coerce(field: &str, value: &Value, types: &[&str]) -> Option<Value> {
    if is_secret(field) {
        return None;
    }
    let read = types.iter().find_map(|wanted| match (*wanted, value) {
        ("boolean", Value::String(text)) => match text.trim().to_lowercase().as_str() {
            "true" => Some(true.into()),
            "false" => Some(false.into()),
            _ => None,
        },
        ("integer", Value::String(text)) => Some(text.trim().parse::<i64>().ok()?.into()),
        ("integer", Value::Number(number)) => whole(number.as_f64()?),
        ("number", Value::String(text)) => number(text.trim()),
        ("string", Value::Number(number)) if field.ends_with("_at") => unix_time(number.as_i64()?),
        ("string", Value::Number(number)) => Some(number.to_string().into()),
        ("string", Value::Array(items)) => match items.as_slice() {
            [Value::String(only)] => Some(only.as_str().into()),
            _ => None,
        },
        ("array", Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Array(items)) => Some(items.into()),
            _ => Some(json!([text])),
        },
        ("array", Value::Number(_) | Value::Object(_)) => Some(json!([value])),
        ("object", Value::String(text)) => serde_json::from_str(text).ok().filter(Value::is_object),
        _ => None,
    });
    read.filter(|read| read != value)
}

/// Returns true for a field whose value must not appear in a response.
fn is_secret(field: &str) -> bool {
    ["credential", "password", "secret", "token", "key"].iter().any(|word| field.contains(word))
}

/// Returns a number without a fraction as an integer, if it is small enough to be exact.
#[must_use]
pub fn whole(number: f64) -> Option<Value> {
    let is_whole = number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0;
    is_whole.then(|| format!("{number:.0}").parse::<i64>().ok().map(Value::from))?
}

fn number(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(Value::is_number)
}

/// Reads seconds, or milliseconds, since 1970 in this century.
fn unix_time(number: i64) -> Option<Value> {
    let seconds = match number {
        1_000_000_000..=9_999_999_999 => number,
        1_000_000_000_000..=9_999_999_999_999 => number / 1_000,
        _ => return None,
    };
    let time = DateTime::from_timestamp(seconds, 0)?;
    Some(time.to_rfc3339_opts(SecondsFormat::Secs, true).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_has_its_pointer() {
        assert_eq!(pointer("settings.poll.options[2]"), "/settings/poll/options/2");
        assert_eq!(pointer("a[0][1].b/c"), "/a/0/1/b~1c");
        let renamed = Fix::rename("settings.langages", "languages");
        let expected =
            json!({"op": "move", "from": "/settings/langages", "path": "/settings/languages"});
        assert_eq!(json!(renamed), expected);
    }

    #[test]
    fn a_misspelling_means_one_name_or_none() {
        let known = ["caption", "media_url", "media_urls", "scheduled_at", "status"];
        for (given, name) in [
            ("captoin", Some("caption")),
            ("mediaUrls", Some("media_urls")),
            ("media-url", Some("media_url")),
            ("sheduled_at", Some("scheduled_at")),
            ("Status", Some("status")),
            ("text", None),
            ("urls", None),
            ("media_urlz", None),
            ("capton", Some("caption")),
            ("statsu", Some("status")),
        ] {
            assert_eq!(closest_name(given, known), name, "{given}");
        }
    }

    #[test]
    fn a_prefix_makes_another_word() {
        for (given, known) in [
            ("unpublish", "publish"),
            ("publish", "unpublish"),
            ("account.connected", "account.disconnected"),
            ("available", "unavailable"),
            ("misconfigured", "configured"),
            ("reviewer", "viewer"),
            ("resource", "source"),
        ] {
            assert_eq!(closest_name(given, [known]), None, "{given}");
        }
    }

    #[test]
    fn values_are_read_as_other_types_without_loss_only() {
        for (field, value, types, read) in [
            ("limit", json!("42"), "integer", json!(42)),
            ("limit", json!(42.0), "integer", json!(42)),
            ("dry_run", json!("True"), "boolean", json!(true)),
            ("caption", json!(5), "string", json!("5")),
            ("scheduled_at", json!(1_893_456_000), "string", json!("2030-01-01T00:00:00Z")),
            ("urls", json!("https://a.example"), "array", json!(["https://a.example"])),
            ("settings", json!("{\"a\":1}"), "object", json!({"a": 1})),
        ] {
            assert_eq!(coerce(field, &value, &[types]), Some(read), "{value}");
        }
        for (field, value, types) in [
            ("limit", json!("4.5"), "integer"),
            ("dry_run", json!("yes"), "boolean"),
            ("scheduled_at", json!(5), "string"),
            ("caption", json!(["a", "b"]), "string"),
            ("credentials.app_password", json!(1_234), "string"),
            ("settings", json!("a"), "object"),
            ("limit", json!(5_000), "integer"),
            ("ratio", json!(1.5), "number"),
        ] {
            assert_eq!(coerce(field, &value, &[types]), None, "{value}");
        }
    }
}
