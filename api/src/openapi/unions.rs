//! Choices among objects, as generators tell them apart: by the field that is different in each, or by a field that only
//! one of them has.

use serde_json::{Map, Value, json};

const SCHEMAS: &str = "#/components/schemas/";

/// Gives every choice among objects that have a tag a `discriminator`. Its alternatives become schemas of their own.
pub fn discriminate(document: &mut Value) {
    let Some(schemas) = document["components"]["schemas"].as_object() else { return };
    let mut named = schemas.clone();
    for (name, schema) in schemas {
        let mut schema = schema.clone();
        let alternatives = name_alternatives(name, &mut schema);
        if !alternatives.is_empty() {
            named.insert(name.clone(), schema);
            named.extend(alternatives);
        }
    }
    document["components"]["schemas"] = named.clone().into();
    add_discriminators(document, &named);
}

/// Replaces the alternatives of a choice by references to schemas of their own, and returns these.
fn name_alternatives(name: &str, schema: &mut Value) -> Map<String, Value> {
    let Some(choices) = schema["oneOf"].as_array().cloned() else { return Map::new() };
    let Some(tag) = tag(&choices.iter().collect::<Vec<_>>()) else { return Map::new() };
    let mut named = Map::new();
    let mut references = Vec::new();
    for choice in choices {
        let value = tag_value(&choice, &tag).unwrap_or_default().to_owned();
        let own = format!("{name}{}", pascal_case(&value));
        references.push(json!({"$ref": format!("{SCHEMAS}{own}")}));
        named.insert(own, choice);
    }
    schema["oneOf"] = references.into();
    named
}

fn add_discriminators(value: &mut Value, schemas: &Map<String, Value>) {
    match value {
        Value::Object(fields) => {
            if let Some((choices, tag, mapping)) = tagged_choice(fields, schemas) {
                fields.remove("anyOf");
                fields.insert("oneOf".to_owned(), choices);
                let discriminator = json!({"propertyName": tag, "mapping": mapping});
                fields.insert("discriminator".to_owned(), discriminator);
            } else if excludes_each_other(fields, schemas)
                && let Some(choices) = fields.remove("anyOf")
            {
                fields.insert("oneOf".to_owned(), choices);
            }
            fields.values_mut().for_each(|inner| add_discriminators(inner, schemas));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| add_discriminators(item, schemas)),
        _ => {}
    }
}

/// Returns the alternatives of a choice among named objects with a tag, the name of the tag, and its values.
fn tagged_choice(
    fields: &Map<String, Value>,
    schemas: &Map<String, Value>,
) -> Option<(Value, String, Map<String, Value>)> {
    let choices = fields.get("oneOf").or_else(|| fields.get("anyOf"))?;
    let references = choices.as_array()?.iter().map(|choice| choice["$ref"].as_str());
    let references: Vec<&str> = references.collect::<Option<_>>()?;
    let named = references.iter().map(|path| schemas.get(path.strip_prefix(SCHEMAS)?));
    let named: Vec<&Value> = named.collect::<Option<_>>()?;
    let tag = tag(&named)?;
    let values = named.iter().filter_map(|schema| tag_value(schema, &tag));
    let mapping = values.zip(&references).map(|(value, path)| (value.to_owned(), json!(path)));
    // Words beside a reference would make it another schema, without a name.
    let choices = references.iter().map(|path| json!({"$ref": path})).collect();
    Some((choices, tag.clone(), mapping.collect()))
}

/// Returns true for a choice of which an object can only be one: each requires a field that no other one knows.
fn excludes_each_other(fields: &Map<String, Value>, schemas: &Map<String, Value>) -> bool {
    let choices = fields.get("anyOf").and_then(Value::as_array).map(Vec::as_slice);
    let choices = choices.unwrap_or_default();
    let own = |(place, choice): (usize, &Value)| {
        let others = choices.iter().enumerate().filter(|(other, _)| *other != place);
        let others: Vec<_> = others.map(|(_, other)| named(other, schemas)).collect();
        let is_own = |name: &Value| {
            let name = name.as_str().unwrap_or_default();
            others.iter().all(|other| other["properties"].get(name).is_none())
        };
        named(choice, schemas)["required"].as_array().is_some_and(|all| all.iter().any(is_own))
    };
    choices.len() > 1 && choices.iter().enumerate().all(own)
}

/// Returns a choice itself, or the schema that it names.
fn named<'a>(choice: &'a Value, schemas: &'a Map<String, Value>) -> &'a Value {
    referenced(choice, schemas).unwrap_or(choice)
}

/// Returns the schema that a reference names.
fn referenced<'a>(choice: &Value, schemas: &'a Map<String, Value>) -> Option<&'a Value> {
    schemas.get(choice["$ref"].as_str()?.strip_prefix(SCHEMAS)?)
}

/// Returns the required field that has another constant in each of these objects.
fn tag(choices: &[&Value]) -> Option<String> {
    let first = choices.first().filter(|_| choices.len() > 1)?;
    let is_tag = |name: &&Value| {
        let Some(name) = name.as_str() else { return false };
        let values: Option<Vec<&str>> =
            choices.iter().map(|choice| tag_value(choice, name)).collect();
        values.is_some_and(|mut values| {
            values.sort_unstable();
            values.windows(2).all(|pair| pair[0] != pair[1])
        })
    };
    first["required"].as_array()?.iter().find(is_tag)?.as_str().map(str::to_owned)
}

fn tag_value<'a>(choice: &'a Value, name: &str) -> Option<&'a str> {
    let property = &choice["properties"][name];
    match property["enum"].as_array().map(Vec::as_slice) {
        Some([only]) => only.as_str(),
        _ => property["const"].as_str(),
    }
}

fn pascal_case(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    words.map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_with_a_tag_are_told_apart_and_others_stay() {
        let tagged = |value: &str| json!({"properties": {"op": {"const": value}, "x": {}}, "required": ["op", "x"]});
        let own =
            |name: &str| json!({"properties": {name: {}, "both": {}}, "required": [name, "both"]});
        let mut document = json!({"components": {"schemas": {
            "Fix": {"oneOf": [tagged("add"), tagged("take_out")]},
            "Plain": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "Holder": {"properties": {
                "either": {"anyOf": [{"$ref": "#/components/schemas/FixAdd", "description": "d"}, {"$ref": "#/components/schemas/FixTakeOut"}]},
                "maybe": {"anyOf": [{"$ref": "#/components/schemas/FixAdd"}, {"type": "null"}]},
                "made": {"anyOf": [own("made"), {"$ref": "#/components/schemas/Price"}]},
                "alike": {"anyOf": [own("made"), {"properties": {"made": {}, "both": {}, "more": {}}, "required": ["more"]}]},
            }},
            "Price": own("price"),
        }}});
        let before = document.clone();
        discriminate(&mut document);
        let schemas = &document["components"]["schemas"];
        assert_eq!(schemas["FixTakeOut"], tagged("take_out"));
        let mapping = json!({"add": "#/components/schemas/FixAdd", "take_out": "#/components/schemas/FixTakeOut"});
        let expected = json!({"propertyName": "op", "mapping": mapping});
        assert_eq!(schemas["Fix"]["discriminator"], expected);
        let holder = &schemas["Holder"]["properties"];
        assert_eq!(holder["either"]["discriminator"], expected);
        assert_eq!(holder["either"]["oneOf"][0], json!({"$ref": "#/components/schemas/FixAdd"}));
        assert!(holder["either"]["anyOf"].is_null());
        let unchanged = &before["components"]["schemas"];
        assert_eq!(schemas["Plain"], unchanged["Plain"]);
        for name in ["maybe", "alike"] {
            assert_eq!(holder[name], unchanged["Holder"]["properties"][name]);
        }
        let made = &unchanged["Holder"]["properties"]["made"]["anyOf"];
        assert_eq!((&holder["made"]["oneOf"], &holder["made"]["anyOf"]), (made, &Value::Null));
    }
}
