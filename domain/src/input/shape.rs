//! Validates bodies against the JSON Schema that the OpenAPI document shows.
//!
//! One walk over a value reports every unknown, missing, mistyped or too long part of it, and removes those parts. The
//! code that reads the objects in lists one by one validates them.

use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, LazyLock, PoisonError, RwLock},
};

use fanfare_platforms::{
    Fix, Violations, excerpt,
    fix::{closest_name, coerce, sibling_field},
};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

use super::{
    strict::unknown_field,
    text::{self, TextRule},
};
use crate::error::{Code, violation};

/// Marks the schema of a string that can have several lines.
pub const LINES: &str = "x-lines";

/// The schema of a type, with references resolved.
pub struct Shape(Value);

/// Returns the schema of a type; it is generated once.
pub fn of<T: JsonSchema + 'static>() -> Arc<Shape> {
    static KNOWN: LazyLock<RwLock<HashMap<TypeId, Arc<Shape>>>> = LazyLock::new(RwLock::default);
    let id = TypeId::of::<T>();
    if let Some(known) = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
        return known.clone();
    }
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let shape = Arc::new(Shape(schema.to_value()));
    KNOWN.write().unwrap_or_else(PoisonError::into_inner).insert(id, shape.clone());
    shape
}

impl Shape {
    /// Records what is wrong with `value`, and removes those parts.
    pub fn remove_invalid(&self, value: &mut Value, found: &mut Violations) {
        object(&self.0, value, &mut String::new(), found);
    }
}

/// Checks a value. Returns false if it has to be removed.
fn check(schema: &Value, value: &mut Value, path: &mut String, found: &mut Violations) -> bool {
    if !is_of_type(schema, value) {
        found.push_with(|| wrong_type(schema, value, path));
        return false;
    }
    match value {
        Value::String(given) => is_text(rule(schema), given, path, found),
        Value::Array(items) => {
            list(&schema["items"], items, path, found);
            true
        }
        Value::Object(_) if schema.get("properties").is_some() => {
            object(schema, value, path, found);
            true
        }
        Value::Object(fields) => is_free_object(fields, path, found),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

fn object(schema: &Value, value: &mut Value, path: &mut String, found: &mut Violations) {
    let (Some(known), Value::Object(fields)) = (schema["properties"].as_object(), value) else {
        return;
    };
    let absent: Vec<_> =
        known.keys().filter(|name| !fields.contains_key(*name)).map(String::as_str).collect();
    fields.retain(|name, value| {
        step(path, name, |path| match known.get(name) {
            Some(schema) => check(schema, value, path, found),
            None => {
                found.push_with(|| {
                    let fix = misspelling_fixes(path, name, value, known, &absent);
                    unknown(path, name, known).with_fix(fix)
                });
                false
            }
        })
    });
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for name in required.filter(|name| !fields.contains_key(*name)) {
        step(path, name, |path| {
            // A field that was removed has already been reported.
            if !found.iter().any(|earlier| earlier.field == *path) {
                let message = format!("{path} is required.");
                found.push(violation(Code::FieldRequired, &**path, message, "Send the field."));
            }
        });
    }
}

fn unknown(path: &str, name: &str, known: &Map<String, Value>) -> crate::error::Violation {
    if !text::is_clean(name) {
        return text::bad_name(path);
    }
    let known: Vec<_> = known.keys().map(String::as_str).collect();
    unknown_field(path, name, &known)
}

/// Returns the fixes for a misspelt field: the right name and, if needed, a value of the right type.
fn misspelling_fixes(
    path: &str,
    name: &str,
    value: &Value,
    known: &Map<String, Value>,
    absent: &[&str],
) -> Vec<Fix> {
    let Some(right) = closest_name(name, absent.iter().copied()) else { return Vec::new() };
    let (moved, field, schema) =
        (Fix::rename(path, right), sibling_field(path, right), &known[right]);
    if is_right(schema, value, &field) {
        return vec![moved];
    }
    let read = read_as(schema, value, &field);
    read.map_or_else(Vec::new, |read| vec![moved, Fix::replace(&field, read)])
}

fn is_right(schema: &Value, value: &Value, field: &str) -> bool {
    let mut found = Violations::default();
    let mut value = value.clone();
    check(schema, &mut value, &mut field.to_owned(), &mut found) && found.is_empty()
}

/// Returns the value of the schema's type that `value` can be read as.
fn read_as(schema: &Value, value: &Value, field: &str) -> Option<Value> {
    let types = types(schema);
    coerce(field, value, &types).filter(|read| is_right(schema, read, field))
}

/// Checks the items of a list. An item that is removed is replaced by a string that nobody can have sent, so that the
/// others keep their indexes.
fn list(schema: &Value, items: &mut [Value], path: &mut String, found: &mut Violations) {
    if schema.get("properties").is_some() {
        return;
    }
    for (place, item) in items.iter_mut().enumerate() {
        let length = path.len();
        path.push_str(&format!("[{place}]"));
        if !check(schema, item, path, found) {
            *item = format!("\0{place}").into();
        }
        path.truncate(length);
    }
}

/// Checks the names and strings of an object whose fields are not ours.
fn is_free_object(fields: &Map<String, Value>, path: &mut String, found: &mut Violations) -> bool {
    let mut good = true;
    for (name, value) in fields {
        good &= step(path, name, |path| {
            if text::is_clean(name) {
                return is_free(value, path, found);
            }
            found.push_with(|| text::bad_name(path));
            false
        });
    }
    good
}

fn is_free(value: &Value, path: &mut String, found: &mut Violations) -> bool {
    match value {
        Value::String(given) => is_text(TextRule::lines(text::FREE_MAX), given, path, found),
        Value::Object(fields) => is_free_object(fields, path, found),
        Value::Array(items) => {
            let mut good = true;
            for (place, item) in items.iter().enumerate() {
                let length = path.len();
                path.push_str(&format!("[{place}]"));
                good &= is_free(item, path, found);
                path.truncate(length);
            }
            good
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

fn is_text(rule: TextRule, given: &str, path: &str, found: &mut Violations) -> bool {
    let flaw = text::problem(excerpt(path), given, rule);
    let good = flaw.is_none();
    found.extend(flaw);
    good
}

/// Calls `visit` with the path one level down.
fn step<R>(path: &mut String, name: &str, visit: impl FnOnce(&mut String) -> R) -> R {
    let length = path.len();
    if length > 0 {
        path.push('.');
    }
    path.push_str(name);
    let seen = visit(path);
    path.truncate(length);
    seen
}

/// Returns the schema's rules for a string.
fn rule(schema: &Value) -> TextRule {
    let most = schema["maxLength"].as_u64().and_then(|most| usize::try_from(most).ok());
    TextRule { max_chars: most.unwrap_or(text::DEFAULT_MAX), lines: schema[LINES] == true }
}

fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_of_type(schema: &Value, value: &Value) -> bool {
    let types = types(schema);
    types.is_empty()
        || types.iter().any(|wanted| match *wanted {
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            _ => value.is_null(),
        })
}

fn wrong_type(schema: &Value, value: &Value, path: &str) -> crate::error::Violation {
    let named = |kind: &str| match kind {
        "string" => "a text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        _ => "null",
    };
    let wanted: Vec<_> =
        types(schema).into_iter().filter(|kind| *kind != "null").map(named).collect();
    let wanted = wanted.join(" or ");
    let given = named(match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    });
    let field = excerpt(path);
    let message = format!("{field} must be {wanted}, and is {given}.");
    let fix = read_as(schema, value, path).map(|read| Fix::replace(path, read));
    violation(Code::InvalidField, field, message, format!("Send {wanted}.")).with_fix(fix)
}
