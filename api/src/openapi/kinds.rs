//! Words for schemas, so that records read like lists of fields.

use serde_json::{Map, Value, json};

use crate::Shape;

/// The record of this name.
pub fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// The same, or null.
pub fn maybe(schema: Value) -> Value {
    match schema.get("type").and_then(Value::as_str).map(str::to_owned) {
        Some(kind) => {
            let mut schema = schema;
            schema["type"] = json!([kind, "null"]);
            schema
        }
        None => json!({"anyOf": [schema, {"type": "null"}]}),
    }
}

/// A list of these.
pub fn list(of: Value) -> Value {
    json!({"type": "array", "items": of})
}

/// A text.
pub fn text() -> Value {
    json!({"type": "string"})
}

/// One of these texts.
pub fn choice(values: &[&str]) -> Value {
    json!({"type": "string", "enum": values})
}

/// A whole number.
pub fn number() -> Value {
    json!({"type": "integer"})
}

/// A number, whole or not.
pub fn real() -> Value {
    json!({"type": "number"})
}

/// True or false.
pub fn truth() -> Value {
    json!({"type": "boolean"})
}

/// A UUID.
pub fn uuid() -> Value {
    json!({"type": "string", "format": "uuid"})
}

/// A time in UTC.
pub fn time() -> Value {
    json!({"type": "string", "format": "date-time"})
}

/// Any object.
pub fn object() -> Value {
    json!({"type": "object", "additionalProperties": true})
}

/// An object with these fields, all of them there; others may be added.
pub fn record(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let fields: Vec<_> = fields.into_iter().collect();
    let required: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
    let required = json!(required);
    let fields = fields.into_iter().map(|(name, schema)| (name.to_owned(), schema));
    let fields: Map<_, _> = fields.collect();
    json!({"type": "object", "required": required, "properties": fields})
}

/// The body of an answer.
pub fn of(shape: Shape) -> Value {
    match shape {
        Shape::One(field, name) => record([(field, reference(name))]),
        Shape::List(field, name) => record([(field, list(reference(name)))]),
        Shape::Page(field, name) => {
            record([(field, list(reference(name))), ("next_cursor", maybe(text()))])
        }
        Shape::Record(name) => reference(name),
    }
}
