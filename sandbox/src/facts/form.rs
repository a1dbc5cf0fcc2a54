//! Queries and forms as JSON, in the types that a schema asks for.

use serde_json::{Map, Value};
use url::form_urlencoded;

use super::schema::Schemas;
use crate::call::Call;
use crate::multipart;

/// Returns a request's body; `None` if it cannot be read, or is empty. Files are left out, or stand for themselves
/// `with_files`.
pub(crate) fn body(
    call: &Call,
    schema: &Value,
    schemas: &Schemas,
    with_files: bool,
) -> Option<Value> {
    match call.media_type().as_str() {
        "application/x-www-form-urlencoded" => {
            let pairs = form_urlencoded::parse(&call.body).into_owned().collect();
            Some(value(pairs, schema, schemas))
        }
        "multipart/form-data" => {
            let parts = multipart::parse(call.header("content-type")?, &call.body)?;
            // The bytes of a file are judged by the handler.
            let text = |part: &multipart::Part| match part.filename {
                Some(_) if with_files => "file".into(),
                Some(_) => String::new(),
                None => part.text(),
            };
            let pairs = parts.iter().map(|part| (part.name.clone(), text(part))).collect();
            Some(value(pairs, schema, schemas))
        }
        _ => call.json().ok(),
    }
}

/// Returns the pairs of a form as an object. Names with brackets make inner objects and lists: `poll[options][]`.
pub(crate) fn value(pairs: Vec<(String, String)>, schema: &Value, schemas: &Schemas) -> Value {
    let mut whole = Map::new();
    // An empty value is as good as none.
    for (name, text) in pairs.into_iter().filter(|(_, text)| !text.is_empty()) {
        if property(schema, schemas, &name).is_some() {
            add(&mut whole, &name, text, schema, schemas);
            continue;
        }
        match name.split_once('[') {
            Some((first, rest)) => add_inside(&mut whole, first, rest, text, schema, schemas),
            None => add(&mut whole, &name, text, schema, schemas),
        }
    }
    Value::Object(whole)
}

/// Adds a value; a name that is given again makes a list where the schema has one.
fn add(
    whole: &mut Map<String, Value>,
    name: &str,
    text: String,
    schema: &Value,
    schemas: &Schemas,
) {
    let wanted = property(schema, schemas, name);
    let typed = typed(text, wanted, schemas);
    match (whole.get_mut(name), typed) {
        (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
        (_, typed) => drop(whole.insert(name.to_owned(), typed)),
    }
}

/// Adds a value at `first[rest`.
fn add_inside(
    whole: &mut Map<String, Value>,
    first: &str,
    rest: &str,
    text: String,
    schema: &Value,
    schemas: &Schemas,
) {
    let inner = property(schema, schemas, first).map(|inner| schemas.resolved(inner));
    let (key, more) = rest.split_once(']').unwrap_or((rest, ""));
    if key.is_empty() || key.parse::<u32>().is_ok() {
        let items = inner.and_then(|inner| inner.get("items"));
        let list = whole.entry(first).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(list) = list {
            list.push(typed(text, items, schemas));
        }
        return;
    }
    let object = whole.entry(first).or_insert_with(|| Value::Object(Map::new()));
    let (Value::Object(object), Some(inner)) = (object, inner) else { return };
    match more.strip_prefix('[') {
        Some(more) => add_inside(object, key, more, text, inner, schemas),
        None => add(object, key, text, inner, schemas),
    }
}

/// Returns the schema of a property.
fn property<'a>(schema: &'a Value, schemas: &'a Schemas, name: &str) -> Option<&'a Value> {
    let schema = schemas.resolved(schema);
    if let Some(found) = schema.get("properties").and_then(|properties| properties.get(name)) {
        return Some(found);
    }
    let parts = ["allOf", "anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array());
    parts.flatten().find_map(|part| property(part, schemas, name))
}

/// Returns the text in the type of the schema, or as it is if it is no such value.
fn typed(text: String, schema: Option<&Value>, schemas: &Schemas) -> Value {
    let Some(schema) = schema.map(|schema| schemas.resolved(schema)) else {
        return Value::String(text);
    };
    let types = types(schema, schemas);
    if types.is_empty() || types.contains(&"string") {
        return Value::String(text);
    }
    let parsed = || serde_json::from_str::<Value>(&text).ok();
    let fits = |value: &Value| match value {
        Value::Number(_) => types.contains(&"integer") || types.contains(&"number"),
        Value::Bool(_) => types.contains(&"boolean"),
        Value::Object(_) => types.contains(&"object"),
        Value::Array(_) => types.contains(&"array"),
        _ => false,
    };
    if let Some(value) = parsed().filter(fits) {
        return value;
    }
    match text.as_str() {
        "1" if types.contains(&"boolean") => Value::Bool(true),
        "0" if types.contains(&"boolean") => Value::Bool(false),
        _ if types.contains(&"array") => {
            let items = schema.get("items");
            text.split(',').map(|one| typed(one.to_owned(), items, schemas)).collect()
        }
        _ => Value::String(text),
    }
}

/// Returns the types that a schema allows; none if it does not say.
fn types<'a>(schema: &'a Value, schemas: &'a Schemas) -> Vec<&'a str> {
    let schema = schemas.resolved(schema);
    let list = |value: &'a Value| match value {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let mut found = schema.get("type").map(list).unwrap_or_default();
    let of_values = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    found.extend(of_values.map(|value| match value {
        Value::Number(_) => "integer",
        Value::Bool(_) => "boolean",
        _ => "string",
    }));
    for key in ["anyOf", "oneOf"] {
        let parts = schema.get(key).and_then(Value::as_array).into_iter().flatten();
        parts.for_each(|part| found.extend(types(part, schemas)));
    }
    found
}
