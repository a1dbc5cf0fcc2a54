//! Discord's "Invalid Form Body": a tree with the errors of each field.

use serde_json::{Map, Value, json};

use crate::reply::Reply;

/// The errors found so far.
#[derive(Debug, Default)]
pub(super) struct FormErrors(Map<String, Value>);

impl FormErrors {
    /// Adds an error at a dotted path such as `poll.answers.0`.
    pub fn add(&mut self, path: &str, code: &str, message: &str) {
        let mut map = &mut self.0;
        for step in path.split('.') {
            let next = map.entry(step).or_insert_with(|| json!({}));
            let Some(next) = next.as_object_mut() else { return };
            map = next;
        }
        let errors = map.entry("_errors").or_insert_with(|| json!([]));
        if let Some(errors) = errors.as_array_mut() {
            errors.push(json!({"code": code, "message": message}));
        }
    }

    /// Adds an error if a text is longer than `most` characters.
    pub fn length(&mut self, path: &str, text: &str, most: usize) {
        if text.chars().count() > most {
            self.add(path, "BASE_TYPE_MAX_LENGTH", &format!("Must be {most} or fewer in length."));
        }
    }

    /// Adds an error for a value of the wrong type.
    pub fn mistyped(&mut self, path: &str, expected: &str) {
        self.add(path, "BASE_TYPE_BAD_TYPE", &format!("Expected {expected}."));
    }

    /// Returns the error response, if there is any error.
    pub fn refuse(self) -> Result<(), Reply> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(Reply::json(
            400,
            &json!({"message": "Invalid Form Body", "code": 50035, "errors": self.0}),
        ))
    }
}
