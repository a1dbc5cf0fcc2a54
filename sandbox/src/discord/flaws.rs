//! Discord's "Invalid Form Body": every flaw at its place in a tree.

use serde_json::{Map, Value, json};

use crate::reply::Reply;

/// Flaws found so far.
#[derive(Debug, Default)]
pub(super) struct Flaws(Map<String, Value>);

impl Flaws {
    /// Notes a flaw at a dotted path such as `poll.answers.0`.
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

    /// Notes a text that is longer than `most` characters.
    pub fn length(&mut self, path: &str, text: &str, most: usize) {
        if text.chars().count() > most {
            self.add(path, "BASE_TYPE_MAX_LENGTH", &format!("Must be {most} or fewer in length."));
        }
    }

    /// Notes a value of the wrong type.
    pub fn mistyped(&mut self, path: &str, expected: &str) {
        self.add(path, "BASE_TYPE_BAD_TYPE", &format!("Expected {expected}."));
    }

    /// The refusal, if there is any flaw.
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
