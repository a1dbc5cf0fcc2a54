//! JSON Schema of a network's `settings`, made from its descriptor.

use serde_json::{Value, json};

use crate::Spec;

/// JSON Schema (2020-12) of `settings`.
#[must_use]
pub fn settings_schema(spec: &Spec) -> Value {
    json!({"title": spec.label})
}
