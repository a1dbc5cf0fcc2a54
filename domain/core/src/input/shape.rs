//! Validates bodies against the JSON Schema that the OpenAPI document shows.
//!
//! One walk over a value reports every unknown, missing, mistyped, too long or too large part of it, and removes those
//! parts. Of the entries of a list that is marked [`SINGLY`] only the types are looked at: the rest is validated by the code that reads
//! them one by one.

use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, LazyLock, PoisonError, RwLock},
};

use fanfare_doors::near_misses::{self, Meant, NearMiss};
use fanfare_platforms::{
    Fix, Violations, excerpt,
    fix::{closest_name, coerce, pointer, sibling_field},
};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Number, Value};

use super::{
    strict::unknown_field,
    text::{self, TextRule},
};
use crate::error::{Code, violation};

/// Marks the schema of a string that can have several lines.
pub const LINES: &str = "x-lines";

/// Marks the schema of a required field whose absence is refused by the code that reads it, under a code of its own.
const OWN_CODE: &str = "x-own-code";

/// Marks the schema of a number whose bounds are checked by the code that reads it, together with the rest.
const OWN_BOUNDS: &str = "x-own-bounds";

/// Marks the schema of a list or an object that is validated by the code that reads it: the entries of a list one by one.
pub const SINGLY: &str = "x-read-singly";

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
    /// Returns the shape with this schema, which has no references.
    pub const fn new(schema: Value) -> Self {
        Self(schema)
    }

    /// Records what is wrong with `value`, and removes those parts.
    pub fn remove_invalid(&self, value: &mut Value, found: &mut Violations) {
        object(&self.0, value, &mut String::new(), found);
    }
}

/// Checks a value. Returns false if it has to be removed.
fn check(schema: &Value, value: &mut Value, path: &mut String, found: &mut Violations) -> bool {
    let is_own = schema[SINGLY] == true;
    let schema = alternative(schema, value);
    if is_own && value.is_object() {
        return true;
    }
    if !is_of_type(schema, value) {
        found.push_with(|| wrong_type(schema, value, path));
        return false;
    }
    match value {
        Value::String(given) => is_text(rule(schema), given, path, found),
        Value::Array(items) if schema[SINGLY] == true => {
            are_of_type(&schema["items"], items, path, found);
            true
        }
        Value::Array(items) => {
            list(&schema["items"], items, path, found);
            is_within(schema, ("minItems", "maxItems"), items.len(), path, found)
        }
        Value::Number(_) if schema[OWN_BOUNDS] == true => true,
        Value::Number(given) => is_in_range(schema, given, path, found),
        Value::Object(_) if schema.get("properties").is_some() => {
            object(schema, value, path, found);
            true
        }
        Value::Object(fields) => is_free_object(fields, path, found),
        Value::Null | Value::Bool(_) => true,
    }
}

/// Returns the schema that applies where a schema is a choice between null and another one.
fn alternative<'a>(schema: &'a Value, value: &Value) -> &'a Value {
    let choices = schema["anyOf"].as_array().filter(|_| !value.is_null());
    let mut choices = choices.into_iter().flatten().filter(|choice| choice["type"] != "null");
    match (choices.next(), choices.next()) {
        (Some(only), None) => only,
        _ => schema,
    }
}

/// Checks the number of entries of a list.
fn is_within(
    schema: &Value,
    (least, most): (&str, &str),
    count: usize,
    path: &str,
    found: &mut Violations,
) -> bool {
    let bound = |name: &str| schema[name].as_u64().and_then(|bound| usize::try_from(bound).ok());
    let (least, most) = (bound(least).unwrap_or(0), bound(most).unwrap_or(usize::MAX));
    if (least..=most).contains(&count) {
        return true;
    }
    let (limit, words) = if count > most { (most, "at most") } else { (least, "at least") };
    found.push_with(|| {
        let field = excerpt(path);
        let message = format!("{field} has {count} entries; it may have {words} {limit}.");
        let remedy = format!("Send {words} {limit}.");
        let broken = violation(Code::InvalidField, field, message, remedy);
        broken.with_limit(limit, count).in_unit("entries")
    });
    false
}

/// Checks a number against the bounds of its schema.
fn is_in_range(schema: &Value, given: &Number, path: &str, found: &mut Violations) -> bool {
    let value = given.as_f64().unwrap_or(f64::NAN);
    let broken = |name: &str, is_broken: fn(f64, f64) -> bool| {
        let bound = &schema[name];
        bound.as_f64().is_some_and(|limit| is_broken(value, limit)).then(|| bound.clone())
    };
    let least = broken("minimum", |value, least| value < least).map(|limit| (limit, "at least"));
    let most = broken("maximum", |value, most| value > most).map(|limit| (limit, "at most"));
    let Some((limit, words)) = least.or(most) else { return true };
    found.push_with(|| {
        let field = excerpt(path);
        let message = format!("{field} is {given}; it may be {words} {limit}.");
        violation(Code::InvalidField, field, message, format!("Send {words} {limit}."))
            .with_limit(limit, given.clone())
    });
    false
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
    let required = required.filter(|name| known.get(*name).is_none_or(|one| one[OWN_CODE] != true));
    for name in required.filter(|name| !fields.contains_key(*name)) {
        step(path, name, |path| {
            // A field that was removed has already been reported.
            if !found.iter().any(|earlier| earlier.field == *path || is_moved_to(earlier, path)) {
                let message = format!("{path} is required.");
                found.push(violation(Code::FieldRequired, &**path, message, "Send the field."));
            }
        });
    }
}

/// Returns true if a field that was sent under another name is meant: then it is not missing.
fn is_moved_to(earlier: &crate::error::Violation, field: &str) -> bool {
    let place = pointer(field);
    earlier.fix.iter().any(|fix| matches!(fix, Fix::Move { path, .. } if *path == place))
}

fn unknown(path: &str, name: &str, known: &Map<String, Value>) -> crate::error::Violation {
    if !text::is_clean(name) {
        return text::bad_name(path);
    }
    let known: Vec<_> = known.keys().map(String::as_str).collect();
    match near_misses::of(name, &known) {
        Some(miss) => {
            let message = format!("There is no field {}.", excerpt(path));
            violation(Code::UnknownField, excerpt(path), message, miss.hint())
        }
        None => unknown_field(path, name, &known),
    }
}

/// Returns the fixes for a misspelt field: the right name and, if needed, a value of the right type.
fn misspelling_fixes(
    path: &str,
    name: &str,
    value: &Value,
    known: &Map<String, Value>,
    absent: &[&str],
) -> Vec<Fix> {
    let names: Vec<_> = known.keys().map(String::as_str).collect();
    let miss = near_misses::of(name, &names);
    if let Some(NearMiss { meant: Meant::Inside(_) | Meant::Hint(_), .. }) = miss {
        return miss.and_then(|miss| relocation(miss, path)).into_iter().collect();
    }
    let other = match miss.map(|miss| miss.meant) {
        Some(Meant::Field(field)) => absent.contains(&field).then_some(field),
        _ => closest_name(name, absent.iter().copied()),
    };
    let Some(right) = other else { return Vec::new() };
    let (moved, field, schema) =
        (Fix::rename(path, right), sibling_field(path, right), &known[right]);
    if is_right(schema, value, &field) {
        return vec![moved];
    }
    let read = read_as(schema, value, &field);
    read.map_or_else(Vec::new, |read| vec![moved, Fix::replace(&field, read)])
}

/// Returns the fix that moves a field at `path` into an object beside it.
fn relocation(miss: &NearMiss, path: &str) -> Option<Fix> {
    match miss.meant {
        Meant::Inside(inner) if !path.contains('.') => Some(Fix::relocate(path, inner)),
        Meant::Field(_) | Meant::Inside(_) | Meant::Hint(_) => None,
    }
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
    for (place, item) in items.iter_mut().enumerate() {
        let length = path.len();
        path.push_str(&format!("[{place}]"));
        if !check(schema, item, path, found) {
            *item = format!("\0{place}").into();
        }
        path.truncate(length);
    }
}

/// Checks only the types of the entries of a list: the rest of each is checked by the code that reads them one by one.
fn are_of_type(schema: &Value, items: &[Value], path: &str, found: &mut Violations) {
    for (place, item) in items.iter().enumerate().filter(|(_, item)| !is_of_type(schema, item)) {
        found.push_with(|| wrong_type(schema, item, &format!("{path}[{place}]")));
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
        "fraction" => "a number with a fraction",
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
        Value::Number(number) if number.is_f64() => "fraction",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    });
    let field = excerpt(path);
    let is_field = !path.ends_with(']');
    let hint =
        if value.is_null() && is_field { ": leave the field out, if it is optional" } else { "" };
    let message = format!("{field} must be {wanted}, and is {given}{hint}.");
    let fix = read_as(schema, value, path).map(|read| Fix::replace(path, read));
    violation(Code::InvalidField, field, message, format!("Send {wanted}.")).with_fix(fix)
}
