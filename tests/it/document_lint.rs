//! The rules by which the OpenAPI document stays readable for generators of clients. `make peers` runs the generators
//! themselves.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

fn document() -> Value {
    fanfare_api::document("https://f.example")
}

/// Calls `visit` with every object of the document and its place, without the values that are examples.
fn walk(value: &Value, place: &str, visit: &mut impl FnMut(&str, &Map<String, Value>)) {
    match value {
        Value::Object(fields) => {
            visit(place, fields);
            for (name, inner) in fields {
                if !["example", "enum", "const", "default"].contains(&name.as_str())
                    || place.ends_with("/properties")
                {
                    walk(inner, &format!("{place}/{name}"), visit);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                walk(item, &format!("{place}/{index}"), visit);
            }
        }
        _ => {}
    }
}

/// Returns the places whose objects break a rule.
fn broken(rule: impl Fn(&str, &Map<String, Value>) -> bool) -> Vec<String> {
    let mut places = Vec::new();
    walk(&document(), "", &mut |place, fields| {
        if !place.ends_with("/properties") && rule(place, fields) {
            places.push(place.to_owned());
        }
    });
    places
}

fn names(value: &Value) -> BTreeSet<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn a_default_is_a_value_of_its_schema() {
    let wrong = broken(|_, fields| {
        fields.get("default").is_some_and(|value| {
            value.is_null()
                || fields.get("enum").is_some_and(|choices| {
                    !names(choices).contains(value.as_str().unwrap_or_default())
                })
        })
    });
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_choice_among_texts_is_an_enumeration_with_a_type() {
    let wrong = broken(|_, fields| {
        let choices = fields.get("oneOf").or(fields.get("anyOf")).and_then(Value::as_array);
        let is_constants =
            choices.is_some_and(|all| all.iter().all(|one| one.get("const").is_some()));
        is_constants || (fields.contains_key("enum") && !fields.contains_key("type"))
    });
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_list_names_the_schema_of_its_items() {
    let wrong = broken(|_, fields| {
        let kinds = fields.get("type");
        let is_list = kinds.is_some_and(|kinds| kinds == "array" || names(kinds).contains("array"));
        fields.contains_key("prefixItems") || (is_list && !fields.contains_key("items"))
    });
    assert_eq!(wrong, Vec::<String>::new());
}

/// Values of any type, on purpose: what a fix writes, and the body of a call that leads on.
const ANY: [&str; 3] =
    ["FixAdd/properties/value", "FixReplace/properties/value", "NextAction/properties/body"];

#[test]
fn every_property_has_a_type() {
    let mut wrong = Vec::new();
    walk(&document(), "", &mut |place, fields| {
        if !place.ends_with("/properties") {
            return;
        }
        for (name, schema) in fields {
            let is_typed = ["type", "$ref", "oneOf", "anyOf", "allOf"]
                .iter()
                .any(|key| schema.get(*key).is_some());
            let at = format!("{place}/{name}");
            if !is_typed && !ANY.iter().any(|known| at.ends_with(known)) {
                wrong.push(at);
            }
        }
    });
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_choice_among_objects_has_a_field_that_tells_them_apart() {
    let wrong = broken(|_, fields| {
        let choices = fields.get("oneOf").or(fields.get("anyOf")).and_then(Value::as_array);
        let references =
            choices.map_or(0, |all| all.iter().filter(|one| one.get("$ref").is_some()).count());
        references > 1 && fields.get("discriminator").is_none_or(|one| !one["mapping"].is_object())
    });
    assert_eq!(wrong, Vec::<String>::new());
}

/// Returns the objects of a choice, with references followed.
fn objects<'a>(document: &'a Value, fields: &'a Map<String, Value>) -> Vec<&'a Value> {
    let choices = fields.get("oneOf").or(fields.get("anyOf")).and_then(Value::as_array);
    let followed = choices.into_iter().flatten().map(|choice| {
        let path = choice["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
        path.map_or(choice, |path| document.pointer(path).unwrap())
    });
    followed.filter(|choice| choice["properties"].is_object()).collect()
}

#[test]
fn an_object_is_one_of_its_choices_only() {
    let document = document();
    let wrong = broken(|_, fields| {
        let objects = objects(&document, fields);
        // A field that this one requires, and that no other one has.
        let has_own = |(place, one): (usize, &&Value)| {
            names(&one["required"]).into_iter().any(|name| {
                let mut others = objects.iter().enumerate().filter(|(other, _)| *other != place);
                others.all(|(_, other)| other["properties"].get(name).is_none())
            })
        };
        let are_told_apart =
            fields.contains_key("discriminator") || objects.iter().enumerate().all(has_own);
        objects.len() > 1 && !(fields.contains_key("oneOf") && are_told_apart)
    });
    assert_eq!(wrong, Vec::<String>::new());
}

/// The names with capital letters, each with the reason why it has them.
const CAPITALS: [(&str, &str); 5] = [
    ("windowDays", "the name that the service promised from the start"),
    ("sampleSize", "the name that the service promised from the start"),
    ("FUNCTION_PAYLOAD_TOO_LARGE", "the code that the service promised from the start"),
    ("Content-Type", "a header of HTTP, under its own name"),
    ("PUT", "a method of HTTP"),
];

#[test]
fn names_have_no_capital_letters_without_a_reason() {
    let mut found = BTreeSet::new();
    let has_capitals = |name: &str| name.chars().any(char::is_uppercase);
    let document = document();
    walk(&document, "", &mut |place, fields| {
        if place.ends_with("/properties") {
            found.extend(fields.keys().filter(|name| has_capitals(name)).cloned());
        }
        let parameter = fields.get("in").filter(|place| *place != "header");
        let parameter = parameter.and(fields.get("name")).and_then(Value::as_str);
        let values = fields.get("enum").map(names).unwrap_or_default();
        let value = fields.get("const").and_then(Value::as_str);
        let others = parameter.into_iter().chain(values).chain(value);
        found.extend(others.filter(|name| has_capitals(name)).map(str::to_owned));
    });
    for path in document["paths"].as_object().unwrap().keys() {
        assert!(!has_capitals(path), "{path}");
    }
    let listed: BTreeSet<String> = CAPITALS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(found, listed);
}

#[test]
fn numbers_of_pages_and_waits_are_bounded() {
    let wrong = broken(|_, fields| {
        let bounded = ["limit", "wait", "offset", "count"];
        let is_one = fields.get("in").is_some_and(|place| place == "query")
            && fields
                .get("name")
                .and_then(Value::as_str)
                .is_some_and(|name| bounded.contains(&name));
        is_one
            && !(fields["schema"]["minimum"].is_number() && fields["schema"]["maximum"].is_number())
    });
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn what_is_sent_to_webhooks_has_a_tag_of_its_own_and_is_described_by_reference() {
    let document = document();
    let sent = document["webhooks"]["event"]["$ref"].as_str().unwrap();
    let sent = document.pointer(sent.strip_prefix('#').unwrap()).unwrap();
    let own = names(&sent["post"]["tags"]);
    assert_eq!(own.len(), 1);
    let operations = document["paths"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|path| path.as_object().unwrap().values());
    for operation in operations {
        assert!(names(&operation["tags"]).is_disjoint(&own), "{}", operation["operationId"]);
    }
}

#[test]
fn every_operation_is_described_and_can_be_refused() {
    let document = document();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let statuses = operation["responses"].as_object().unwrap();
            assert!(statuses.keys().any(|status| status.starts_with('4')), "{method} {path}");
            assert!(
                operation["description"].as_str().is_some_and(|text| !text.is_empty()),
                "{method} {path}"
            );
        }
    }
    assert!(document["info"]["contact"].is_object());
    assert_eq!(
        document["components"]["schemas"]["Cancellation"]["required"],
        serde_json::json!(["reason"])
    );
}

#[test]
fn a_form_is_no_model() {
    let wrong = broken(|_, fields| {
        let form = fields.get("multipart/form-data");
        form.is_some_and(|form| {
            form["schema"].get("$ref").is_some() || form["schema"].get("properties").is_some()
        })
    });
    assert_eq!(wrong, Vec::<String>::new());
}

/// Returns true if one address can be both paths.
fn overlap(one: &str, other: &str) -> bool {
    let (one, other): (Vec<_>, Vec<_>) = (one.split('/').collect(), other.split('/').collect());
    let same = |(a, b): (&&str, &&str)| a == b || a.starts_with('{') || b.starts_with('{');
    one.len() == other.len() && one.iter().zip(&other).all(same)
}

#[test]
fn the_document_says_which_of_two_paths_is_meant() {
    let document = document();
    let paths: Vec<_> = document["paths"].as_object().unwrap().keys().collect();
    let mut pairs = 0;
    for (index, one) in paths.iter().enumerate() {
        for other in &paths[index + 1..] {
            pairs += usize::from(overlap(one, other));
        }
    }
    let text = document["info"]["description"].as_str().unwrap();
    assert!(pairs == 0 || text.contains("fits two paths"), "{pairs}");
}
