//! Parameters that a client may send as query, form, multipart or JSON.

use serde_json::Value;
use url::form_urlencoded;

use crate::call::Call;
use crate::multipart::{self, Part};

/// The parameters of one request.
pub(crate) struct Params {
    fields: Vec<(String, Field)>,
}

enum Field {
    Text(String),
    Json(Value),
    File(Part),
}

/// The body does not match its content type.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

impl Params {
    /// Reads the query, then the body. The first of several values counts.
    pub fn read(call: &Call) -> Result<Self, Malformed> {
        let mut fields: Vec<_> =
            call.query_pairs().map(|(name, value)| (name, Field::Text(value))).collect();
        match call.media_type().as_str() {
            "application/json" if !call.body.is_empty() => {
                let Ok(Value::Object(map)) = call.json() else { return Err(Malformed) };
                fields.extend(map.into_iter().map(|(name, value)| (name, Field::Json(value))));
            }
            "application/x-www-form-urlencoded" => {
                let pairs = form_urlencoded::parse(&call.body).into_owned();
                fields.extend(pairs.map(|(name, value)| (name, Field::Text(value))));
            }
            "multipart/form-data" => {
                let content_type = call.header("content-type").unwrap_or_default();
                for part in multipart::parse(content_type, &call.body).ok_or(Malformed)? {
                    let name = part.name.clone();
                    let field = if part.filename.is_some() {
                        Field::File(part)
                    } else {
                        Field::Text(part.text())
                    };
                    fields.push((name, field));
                }
            }
            _ => {}
        }
        Ok(Self { fields })
    }

    fn get(&self, name: &str) -> Option<&Field> {
        let found = self.fields.iter().find(|(key, _)| key == name);
        found.map(|(_, field)| field).filter(|field| !matches!(field, Field::Json(Value::Null)))
    }

    /// Returns the names of all that was sent.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(name, _)| name.as_str())
    }

    /// Returns true if there is a value of this name, or a list of them.
    pub fn has(&self, name: &str) -> bool {
        let bracketed = format!("{name}[]");
        self.fields.iter().any(|(key, _)| key == name || *key == bracketed)
    }

    /// Returns a value as text; a JSON value other than a string as its JSON text.
    pub fn text(&self, name: &str) -> Option<String> {
        match self.get(name)? {
            Field::Text(text) | Field::Json(Value::String(text)) => Some(text.clone()),
            Field::Json(value) => Some(value.to_string()),
            Field::File(_) => None,
        }
    }

    /// Returns a value as text, unless it is empty.
    pub fn filled(&self, name: &str) -> Option<String> {
        self.text(name).filter(|text| !text.is_empty())
    }

    /// Returns a value as JSON; text is parsed. `Some(Err)` if it is not valid JSON.
    pub fn json(&self, name: &str) -> Option<Result<Value, Malformed>> {
        match self.get(name)? {
            Field::Text(text) if text.is_empty() => None,
            Field::Text(text) | Field::Json(Value::String(text)) => {
                Some(serde_json::from_str(text).map_err(|_| Malformed))
            }
            Field::Json(value) => Some(Ok(value.clone())),
            Field::File(_) => Some(Err(Malformed)),
        }
    }

    /// Returns true if a flag is set.
    pub fn flag(&self, name: &str) -> bool {
        self.text(name).is_some_and(|text| {
            matches!(text.to_ascii_lowercase().as_str(), "true" | "1" | "yes" | "on")
        })
    }

    /// Returns a value as an integer, if it is one.
    pub fn integer(&self, name: &str) -> Option<i64> {
        self.text(name)?.trim().parse().ok()
    }

    /// Returns a list of numbers: a JSON array, several `name[]`, or numbers separated by commas.
    pub fn integers(&self, name: &str) -> Vec<i64> {
        let bracketed = format!("{name}[]");
        let mut found = Vec::new();
        for (key, field) in self.fields.iter().filter(|(key, _)| key == name || *key == bracketed) {
            match field {
                Field::Json(Value::Array(items)) => {
                    found.extend(items.iter().filter_map(Value::as_i64))
                }
                Field::Json(value) => found.extend(value.as_i64()),
                Field::Text(text) => {
                    found.extend(text.split(',').filter_map(|n| n.trim().parse::<i64>().ok()))
                }
                Field::File(_) => tracing::debug!(key, "a file stands where numbers should"),
            }
        }
        found
    }

    /// Returns a list of texts: a JSON array of texts or numbers, or several `name[]`.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let bracketed = format!("{name}[]");
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let mut found = Vec::new();
        for (_, field) in self.fields.iter().filter(|(key, _)| key == name || *key == bracketed) {
            match field {
                Field::Json(Value::Array(items)) => found.extend(items.iter().filter_map(text)),
                Field::Json(value) => found.extend(text(value)),
                Field::Text(text) => found.push(text.clone()),
                Field::File(part) => tracing::debug!(part.name, "a file stands where texts should"),
            }
        }
        found
    }

    /// Returns a file.
    pub fn file(&self, name: &str) -> Option<&Part> {
        match self.get(name)? {
            Field::File(part) => Some(part),
            _ => None,
        }
    }
}
