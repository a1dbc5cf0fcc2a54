//! Values as texts on one line.

use chrono::{DateTime, Local, TimeZone};
use serde_json::{Map, Value};

/// The text of a value that is not there.
pub const NONE: &str = "-";

/// The fields of details, the first ones first; times come last.
const FIELD_ORDER: [&str; 20] = [
    "status",
    "outcome",
    "platform_post_url",
    "public_url",
    "drop_url",
    "upload_url",
    "checkout_url",
    "authorize_url",
    "video_url",
    "url",
    "error",
    "code",
    "message",
    "remedy",
    "id",
    "platform",
    "username",
    "name",
    "caption",
    "text",
];

/// Returns a value on one line, without control characters, which could move a terminal's cursor.
pub fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => NONE.to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(several) if several.iter().all(is_scalar) => {
            several.iter().map(cell).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    text.chars().map(|mark| if mark.is_control() { ' ' } else { mark }).collect()
}

/// Returns a text, or the beginning of one that is longer than so many characters.
pub fn begin(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Returns a value as a person reads it: a time in the zone of this machine, without seconds' fractions.
pub fn for_person<Zone: TimeZone>(text: &str, zone: &Zone) -> String
where
    Zone::Offset: std::fmt::Display,
{
    // Only what is written as the service writes its times is one.
    let is_time = text.len() >= 20 && text.as_bytes()[10] == b'T';
    match DateTime::parse_from_rfc3339(text).ok().filter(|_| is_time) {
        Some(time) => time.with_timezone(zone).format("%Y-%m-%d %H:%M:%S").to_string(),
        None => text.to_owned(),
    }
}

/// Returns a value as a person at this machine reads it.
pub fn here(text: &str) -> String {
    for_person(text, &Local)
}

/// Returns all values of an object with their paths, in the order in which they are shown.
pub fn leaves(fields: &Map<String, Value>) -> Vec<(String, String)> {
    let mut all = Vec::new();
    collect(&mut all, "", fields);
    all
}

fn collect(all: &mut Vec<(String, String)>, prefix: &str, fields: &Map<String, Value>) {
    let mut ordered: Vec<_> = fields.iter().collect();
    let place = |name: &str| match FIELD_ORDER.iter().position(|known| *known == name) {
        Some(place) => place,
        None if name.ends_with("_at") => FIELD_ORDER.len() + 1,
        None => FIELD_ORDER.len(),
    };
    ordered.sort_by_key(|(name, _)| place(name));
    for (name, value) in ordered {
        add(all, format!("{prefix}{name}"), value);
    }
}

fn add(all: &mut Vec<(String, String)>, path: String, value: &Value) {
    match value {
        Value::Object(inner) if !inner.is_empty() => collect(all, &format!("{path}."), inner),
        Value::Array(several) if !several.iter().all(is_scalar) => {
            for (at, one) in several.iter().enumerate() {
                add(all, format!("{path}.{at}"), one);
            }
        }
        _ if is_empty(value) => all.push((path, NONE.to_owned())),
        _ => all.push((path, cell(value))),
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

fn is_scalar(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;
    use serde_json::json;

    use super::*;

    #[test]
    fn details_begin_with_the_status_and_the_address_and_hold_no_json() {
        let post = json!({"attempts": 1, "created_at": "2030-01-01T00:00:00.000Z", "error": {"remedy": "Wait.", "code": "limited"},
            "id": 7, "media_urls": ["a", "b"], "platform_post_url": "https://x", "settings": {}, "status": "failed",
            "warnings": [{"field": "caption", "message": "Short."}]});
        let shown = leaves(post.as_object().unwrap());
        let shown: Vec<_> = shown.iter().map(|(name, text)| format!("{name}={text}")).collect();
        assert_eq!(
            shown,
            [
                "status=failed",
                "platform_post_url=https://x",
                "error.code=limited",
                "error.remedy=Wait.",
                "id=7",
                "attempts=1",
                "media_urls=a, b",
                "settings=-",
                "warnings.0.message=Short.",
                "warnings.0.field=caption",
                "created_at=2030-01-01T00:00:00.000Z",
            ]
        );
    }

    #[test]
    fn times_are_read_in_a_zone_and_nothing_else_is() {
        let east = FixedOffset::east_opt(2 * 3600).unwrap();
        assert_eq!(for_person("2030-01-31T23:30:00.123Z", &east), "2030-02-01 01:30:00");
        for text in ["7", "2030-01-31", "At 2030-01-31T23:30:00Z", "Hello T there, everybody!"] {
            assert_eq!(for_person(text, &east), text);
        }
    }
}
