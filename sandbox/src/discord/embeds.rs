//! Embeds in messages, and their limits.

use serde_json::Value;

use super::form_errors::FormErrors;

/// The most embeds of a message, and the most fields of one.
const EMBEDS: usize = 10;
const FIELDS: usize = 25;
/// The largest color.
const COLOR: u64 = 0xff_ff_ff;
/// The longest texts of an embed, by their places.
const TEXTS: [(&str, usize); 8] = [
    ("title", 256),
    ("description", 4_096),
    ("url", 2_048),
    ("footer.text", 2_048),
    ("author.name", 256),
    ("author.url", 2_048),
    ("image.url", 2_048),
    ("thumbnail.url", 2_048),
];
/// The longest texts of a field.
const FIELD_TEXTS: [(&str, usize); 2] = [("name", 256), ("value", 1_024)];

/// Validates the embeds of a request and returns them.
pub(super) fn checked(given: Option<&Value>, flaws: &mut FormErrors) -> Vec<Value> {
    let embeds = given.and_then(Value::as_array).cloned().unwrap_or_default();
    if embeds.len() > EMBEDS {
        flaws.add("embeds", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.");
    }
    for (n, embed) in embeds.iter().enumerate() {
        let path = format!("embeds.{n}");
        for (place, most) in TEXTS {
            let value = embed.pointer(&format!("/{}", place.replace('.', "/")));
            text(&format!("{path}.{place}"), value, most, flaws);
        }
        let color = &embed["color"];
        if !color.is_null() && color.as_u64().is_none_or(|color| color > COLOR) {
            let message = "int value should be between 0 and 16777215.";
            flaws.add(&format!("{path}.color"), "NUMBER_TYPE_MAX", message);
        }
        let fields = embed["fields"].as_array().map(Vec::as_slice).unwrap_or_default();
        if fields.len() > FIELDS {
            let message = "Must be 25 or fewer in length.";
            flaws.add(&format!("{path}.fields"), "BASE_TYPE_MAX_LENGTH", message);
        }
        for (m, field) in fields.iter().enumerate() {
            for (name, most) in FIELD_TEXTS {
                let place = format!("{path}.fields.{m}.{name}");
                if field[name].as_str().is_none_or(str::is_empty) {
                    flaws.add(&place, "BASE_TYPE_REQUIRED", "This field is required");
                }
                text(&place, field.get(name), most, flaws);
            }
        }
    }
    embeds
}

fn text(path: &str, value: Option<&Value>, most: usize, flaws: &mut FormErrors) {
    match value {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => flaws.length(path, text, most),
        Some(_) => flaws.mistyped(path, "a string"),
    }
}
