//! Names that a schema does not name. Most vendors ignore a name that they do not know, so that only a stricter reading
//! than theirs finds a misspelt one: all lists are closed, whatever the description says.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::schema::Schemas;

/// Returns what is in no schema, with `[]` for the places in lists.
pub(crate) fn unknown(value: &Value, schema: &Value, schemas: &Schemas) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    Walk { schemas, found: &mut found }.value(value, &[schema], String::new());
    found
}

struct Walk<'a, 'f> {
    schemas: &'a Schemas,
    found: &'f mut BTreeSet<String>,
}

/// The parts of schemas that speak of one value.
#[derive(Default)]
struct Parts<'a> {
    parts: Vec<&'a Map<String, Value>>,
    /// A part allows anything.
    is_open: bool,
    /// The name that says what an object is, if it is of a kind that the description does not name.
    other: Option<String>,
}

impl<'a> Walk<'a, '_> {
    fn value(&mut self, value: &Value, schemas: &[&'a Value], place: String) {
        let mut parts = Parts::default();
        for schema in schemas {
            self.add(schema, value, &mut parts);
        }
        if let Some(name) = &parts.other {
            let place = if place.is_empty() { String::new() } else { format!("{place}.") };
            self.found.insert(format!("{place}{name} is none of the kinds that are known"));
        }
        if parts.is_open {
            return;
        }
        if let Value::String(text) = value {
            self.found.extend(strange_value(text, &parts).map(|why| format!("{place} {why}")));
        }
        match value {
            Value::Object(object) => self.object(object, &parts, &place),
            Value::Array(list) => {
                let items: Vec<_> =
                    parts.parts.iter().filter_map(|part| part.get("items")).collect();
                if !items.is_empty() {
                    list.iter().for_each(|one| self.value(one, &items, format!("{place}[]")));
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, object: &Map<String, Value>, parts: &Parts<'a>, place: &str) {
        let named: Vec<_> = parts.parts.iter().filter_map(|part| part.get("properties")).collect();
        let others = parts.parts.iter().filter_map(|part| part.get("additionalProperties"));
        let others: Vec<_> = others.filter(|other| is_schema(other)).collect();
        if named.is_empty() && others.is_empty() {
            return;
        }
        for (name, inner) in object {
            let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
            let known: Vec<_> =
                named.iter().filter_map(|properties| properties.get(name)).collect();
            if !known.is_empty() {
                self.value(inner, &known, place);
            } else if !others.is_empty() {
                self.value(inner, &others, place);
            } else {
                self.found.insert(format!("{place} is not known"));
            }
        }
    }

    /// Adds the parts of a schema that speak of a value: of alternatives, those that it can be.
    fn add(&self, schema: &'a Value, value: &Value, into: &mut Parts<'a>) {
        let Value::Object(schema) = self.schemas.resolved(schema) else {
            into.is_open |= *schema == Value::Bool(true);
            return;
        };
        into.parts.push(schema);
        for part in list(schema, "allOf") {
            self.add(part, value, into);
        }
        for part in list(schema, "anyOf").chain(list(schema, "oneOf")) {
            if !self.can_be(part, value) {
                continue;
            }
            into.other = into.other.take().or_else(|| self.other_kind(part, value));
            let mut alternative = Parts::default();
            self.add(part, value, &mut alternative);
            let is_empty = alternative.parts.iter().all(|part| !says_more(part));
            into.is_open |= alternative.is_open || (value.is_object() && is_empty);
            into.parts.append(&mut alternative.parts);
        }
    }

    /// Returns the name that says what an object is, of an alternative for all kinds that are not named.
    fn other_kind(&self, schema: &'a Value, value: &Value) -> Option<String> {
        let properties = self.schemas.resolved(schema).get("properties")?.as_object()?;
        let mut excluding = properties.iter().filter(|(_, inner)| inner.get("not").is_some());
        let (name, _) = excluding.next().filter(|(name, _)| value.get(*name).is_some())?;
        Some(name.clone())
    }

    /// Returns whether a value can be what an alternative describes, by its type and the names that tell alternatives
    /// apart.
    fn can_be(&self, schema: &'a Value, value: &Value) -> bool {
        let Value::Object(schema) = self.schemas.resolved(schema) else { return true };
        let fits_type = schema.get("type").is_none_or(|types| is_of_type(value, types));
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let fits = properties
            .filter_map(|(name, inner)| Some((self.schemas.resolved(inner), value.get(name)?)))
            .all(|(inner, value)| allows(inner, value));
        let is_one = |key: &str| {
            let mut parts = list(schema, key).peekable();
            parts.peek().is_none() || parts.any(|part| self.can_be(part, value))
        };
        let fits_parts = list(schema, "allOf").all(|part| self.can_be(part, value));
        fits_type && fits && fits_parts && is_one("anyOf") && is_one("oneOf")
    }
}

/// Returns why a text is none of the values that a description lists, of a list that is open.
fn strange_value(text: &str, parts: &Parts<'_>) -> Option<String> {
    let lists = parts.parts.iter().filter_map(|part| part.get("x-open")?.as_array());
    let mut known = lists.flatten().filter_map(Value::as_str).peekable();
    known.peek()?;
    (!known.any(|one| one == text)).then(|| "is none of the values that are known".to_owned())
}

/// Returns false if a schema has constants, and the value is none of them.
fn allows(schema: &Value, value: &Value) -> bool {
    let is_one = |schema: &Value| match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => Some(only == value),
        (None, Some(Value::Array(several))) => Some(several.contains(value)),
        _ => None,
    };
    is_one(schema) != Some(false) && schema.get("not").and_then(is_one) != Some(true)
}

fn list<'a>(schema: &'a Map<String, Value>, key: &str) -> impl Iterator<Item = &'a Value> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn is_schema(schema: &Value) -> bool {
    schema.as_object().is_some_and(|schema| !schema.is_empty())
}

/// Returns true if a part says anything about the inside of an object.
fn says_more(part: &Map<String, Value>) -> bool {
    let is_named = part.contains_key("properties");
    is_named || part.get("additionalProperties").is_some_and(is_schema)
}

fn is_of_type(value: &Value, types: &Value) -> bool {
    let is = |name: &str| match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) => name == "number" || (name == "integer" && !number.is_f64()),
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    };
    match types {
        Value::String(one) => is(one),
        Value::Array(several) => several.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}
