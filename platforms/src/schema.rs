//! Documents of what a network accepts: the JSON Schema of its `settings`, and its entry in `GET /platforms`.

mod description;
mod limits;

use serde_json::{Map, Value, json};

use crate::{Setting, Shape, Spec, settings};

pub use description::{Description, PostTypeDescription, describe, post_types};
pub use limits::{ContentLimits, MediaLimits};

/// Returns the JSON Schema (2020-12) of `settings`.
#[must_use]
pub fn settings_schema(spec: &Spec) -> Value {
    let mut schema = object_schema(settings::accepted(spec.settings));
    schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".into(), json!(format!("Settings of a post on {}", spec.label)));
    Value::Object(schema)
}

/// Returns the JSON Schema (2020-12) of `metadata`: the texts of a chain, where there are chains.
#[must_use]
pub fn metadata_schema(spec: &Spec) -> Value {
    let mut properties = Map::new();
    if let Some(rules) = &spec.thread {
        let unit = spec.caption.unit;
        let description = format!(
            "The texts of a chain of posts, in their order. They need `post_type` {:?}; each has at most {} {unit}{}.",
            rules.post_type,
            rules.segment_max,
            if rules.urls_allowed { "" } else { " and no web address" },
        );
        let texts = json!({
            "type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1,
            "maxItems": rules.segments_max, "description": description,
        });
        properties.insert(rules.metadata_key.to_owned(), texts);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("Metadata of a post on {}", spec.label),
        "type": "object", "properties": properties, "additionalProperties": false,
    })
}

fn object_schema<'a>(settings: impl Iterator<Item = &'a Setting>) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for setting in settings {
        let mut schema = shape_schema(&setting.shape);
        schema.insert("description".into(), json!(setting.doc));
        properties.insert(setting.name.into(), Value::Object(schema));
        if setting.required {
            required.push(setting.name);
        }
    }
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("properties".into(), Value::Object(properties));
    schema.insert("required".into(), json!(required));
    schema.insert("additionalProperties".into(), json!(false));
    schema
}

fn shape_schema(shape: &Shape) -> Map<String, Value> {
    let schema = match shape {
        Shape::Bool => json!({"type": "boolean"}),
        Shape::Text { min, max } | Shape::Id { min, max } => {
            json!({"type": "string", "minLength": min, "maxLength": max})
        }
        Shape::Url => {
            json!({"type": "string", "format": "uri", "pattern": "^[hH][tT][tT][pP][sS]?://"})
        }
        Shape::Choice(values) => json!({"type": "string", "enum": values}),
        Shape::Integer { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
        Shape::Number { min, max } => json!({"type": "number", "minimum": min, "maximum": max}),
        Shape::Time => json!({"type": "string", "format": "date-time"}),
        Shape::List { of, min, max } => {
            json!({"type": "array", "items": shape_schema(of), "minItems": min, "maxItems": max})
        }
        Shape::Foreign => json!({"type": "object"}),
        Shape::Object(fields) => Value::Object(object_schema(fields.iter())),
    };
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests;
