//! JSON Schemas in the few words that every reader of them knows: generators of clients, and models that call tools.

use serde_json::{Map, Value, json};

/// Keywords whose values are examples, not schemas.
const DATA: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// Rewrites a schema and all schemas in it: enumerations as `enum` with their meanings in the description, lists with
/// `items`, and no default of null, which generators take for a value that is always present.
pub fn simplify(schema: &mut Value) {
    walk(schema, &mut |fields| {
        if fields.get("default") == Some(&Value::Null) {
            fields.remove("default");
        }
        fields.remove("x-own-code");
        fields.remove("x-own-bounds");
        name_choices(fields);
        type_choices(fields);
        list_items(fields);
        ids_as_numbers(fields);
    });
}

/// Removes null, and all but the first of several types, from what a schema and all schemas in it take. A field that is
/// not required says by this that it may be absent, and dialects without unions read it.
pub fn single_types(schema: &mut Value) {
    walk(schema, &mut |fields| {
        for union in ["anyOf", "oneOf"] {
            let Some(Value::Array(choices)) = fields.get_mut(union) else { continue };
            choices.retain(|choice| choice["type"] != "null");
            if let [Value::Object(only)] = &choices[..] {
                let only = only.clone();
                fields.remove(union);
                for (name, value) in only {
                    fields.entry(name).or_insert(value);
                }
            }
        }
        if let Some(Value::Array(kinds)) = fields.get("type") {
            let first = kinds.iter().find(|kind| **kind != "null").cloned();
            fields.insert("type".to_owned(), first.unwrap_or_else(|| "null".into()));
        }
        if let Some(Value::Array(choices)) = fields.get_mut("enum") {
            choices.retain(|choice| !choice.is_null());
        }
    });
}

/// Calls `visit` with a schema, after all schemas in it.
fn walk(schema: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    match schema {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                match value {
                    // A property may have the name of a keyword.
                    Value::Object(named) if name == "properties" => {
                        named.values_mut().for_each(|property| walk(property, visit));
                    }
                    _ if DATA.contains(&name.as_str()) => {}
                    _ => walk(value, visit),
                }
            }
            visit(fields);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, visit)),
        _ => {}
    }
}

/// Writes a choice among constants as `enum`.
fn name_choices(fields: &mut Map<String, Value>) {
    let Some(choices) = fields.get("oneOf").and_then(Value::as_array) else { return };
    let (mut names, mut lines) = (Vec::new(), Vec::new());
    for choice in choices {
        let named = choice.get("const").map(std::slice::from_ref);
        let Some(named) = named.or_else(|| choice["enum"].as_array().map(Vec::as_slice)) else {
            return;
        };
        for name in named {
            let Some(text) = name.as_str() else { return };
            names.push(name.clone());
            lines.extend(choice["description"].as_str().map(|doc| format!("- `{text}`: {doc}")));
        }
    }
    let title = fields.get("description").and_then(Value::as_str).unwrap_or_default();
    let doc = format!("{title}\n\n{}", lines.join("\n"));
    fields.insert("description".to_owned(), doc.trim().into());
    fields.insert("type".to_owned(), "string".into());
    fields.insert("enum".to_owned(), names.into());
    fields.remove("oneOf");
}

/// Adds the type of an enumeration of texts.
fn type_choices(fields: &mut Map<String, Value>) {
    let Some(choices) = fields.get("enum").and_then(Value::as_array) else { return };
    if choices.iter().all(Value::is_string) {
        fields.entry("type").or_insert_with(|| "string".into());
    }
}

/// Writes a list with a schema for each place as one with a schema for all, if they are the same.
fn list_items(fields: &mut Map<String, Value>) {
    let Some(places) = fields.get("prefixItems").and_then(Value::as_array) else { return };
    let Some(first) = places.first().filter(|first| places.iter().all(|other| other == *first))
    else {
        return;
    };
    let first = first.clone();
    fields.remove("prefixItems");
    fields.insert("items".to_owned(), first);
}

/// Writes an id that may also be sent as a text as the number that it is.
fn ids_as_numbers(fields: &mut Map<String, Value>) {
    let Some(Value::Array(kinds)) = fields.get_mut("type") else { return };
    let is_id = ["integer", "string"].iter().all(|kind| kinds.iter().any(|one| one == kind));
    if !is_id || !fields.contains_key("maxLength") {
        return;
    }
    fields.remove("maxLength");
    if let Some(Value::Array(kinds)) = fields.get_mut("type") {
        kinds.retain(|kind| kind != "string");
        if let [only] = &kinds[..] {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
}

/// Returns an object schema that takes no other fields than these.
pub fn object(properties: Map<String, Value>, required: Vec<Value>) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties.into());
    schema.insert("required".to_owned(), required.into());
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_among_constants_is_an_enumeration() {
        let mut schema = json!({
            "description": "A state.",
            "oneOf": [
                {"const": "on", "type": "string", "description": "It runs."},
                {"enum": ["off", "gone"], "type": "string"},
            ],
        });
        simplify(&mut schema);
        let expected = json!({
            "description": "A state.\n\n- `on`: It runs.", "type": "string", "enum": ["on", "off", "gone"],
        });
        assert_eq!(schema, expected);
    }

    #[test]
    fn what_is_no_choice_among_constants_stays() {
        let mut schema = json!({"oneOf": [{"type": "object"}, {"const": "a"}]});
        let before = schema.clone();
        simplify(&mut schema);
        assert_eq!(schema, before);
    }

    #[test]
    fn a_default_of_null_goes_and_a_property_of_that_name_stays() {
        let mut schema = json!({"properties": {
            "default": {"type": "string", "default": null}, "kept": {"default": 5},
        }});
        simplify(&mut schema);
        let expected =
            json!({"properties": {"default": {"type": "string"}, "kept": {"default": 5}}});
        assert_eq!(schema, expected);
    }

    #[test]
    fn an_id_is_a_number_and_a_value_that_is_either_stays_so() {
        for (given, plain) in [
            (json!({"type": ["integer", "string"], "maxLength": 20}), json!({"type": "integer"})),
            (
                json!({"type": ["integer", "string", "null"], "maxLength": 20}),
                json!({"type": ["integer", "null"]}),
            ),
            (json!({"type": ["integer", "string"]}), json!({"type": ["integer", "string"]})),
        ] {
            let mut schema = given;
            simplify(&mut schema);
            assert_eq!(schema, plain);
        }
    }

    #[test]
    fn every_place_of_a_pair_is_an_item() {
        let mut schema =
            json!({"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}]});
        simplify(&mut schema);
        assert_eq!(schema, json!({"type": "array", "items": {"type": "number"}}));
    }

    #[test]
    fn a_schema_has_one_type_after_null_is_gone() {
        for (given, plain) in [
            (json!({"type": ["string", "null"]}), json!({"type": "string"})),
            (json!({"type": ["integer", "string", "null"]}), json!({"type": "integer"})),
            (
                json!({"description": "d", "anyOf": [{"type": "string", "description": "e"}, {"type": "null"}]}),
                json!({"description": "d", "type": "string"}),
            ),
            (
                json!({"enum": ["a", null], "type": ["string", "null"]}),
                json!({"enum": ["a"], "type": "string"}),
            ),
            (
                json!({"type": "array", "items": {"type": ["string", "null"]}}),
                json!({"type": "array", "items": {"type": "string"}}),
            ),
        ] {
            let mut schema = given;
            single_types(&mut schema);
            assert_eq!(schema, plain);
        }
    }
}
