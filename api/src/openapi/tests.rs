use std::collections::HashSet;

use fanfare_core::Code;

use super::*;
use crate::routes::ROUTES;

fn made() -> Value {
    document("https://f.example", ROUTES)
}

/// Calls `visit` with every object in the document.
fn walk(value: &Value, visit: &mut impl FnMut(&Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            visit(object);
            object.values().for_each(|child| walk(child, visit));
        }
        Value::Array(list) => list.iter().for_each(|child| walk(child, visit)),
        _ => {}
    }
}

#[test]
fn every_route_is_in_the_document_with_its_parameters() {
    let document = made();
    for route in ROUTES {
        let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
        assert_eq!(operation["operationId"], route.name);
        let parameters = operation["parameters"].as_array().unwrap();
        for name in route.path_parameters() {
            let is_there =
                |p: &Value| p["name"] == name && p["in"] == "path" && p["required"] == true;
            assert!(parameters.iter().any(is_there), "{}: {name}", route.name);
        }
    }
}

#[test]
fn operations_are_named_once_and_belong_to_a_chapter() {
    let (document, mut names) = (made(), HashSet::new());
    let chapters: HashSet<_> = TAGS.iter().chain([&SENT_EVENTS]).map(|(name, _)| *name).collect();
    walk(&document, &mut |object| {
        let Some(name) = object.get("operationId") else { return };
        assert!(names.insert(name.clone()), "{name}");
        for tag in object["tags"].as_array().unwrap() {
            assert!(chapters.contains(tag.as_str().unwrap()), "{tag}");
        }
    });
    assert!(names.len() > ROUTES.len());
}

#[test]
fn every_reference_leads_somewhere() {
    let document = made();
    let mut count = 0;
    walk(&document, &mut |object| {
        let Some(reference) = object.get("$ref").and_then(Value::as_str) else { return };
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
        count += 1;
    });
    assert!(count > 100, "{count}");
}

#[test]
fn every_error_code_is_in_the_document() {
    let document = made();
    let codes = document["components"]["schemas"]["Error"]["properties"]["code"]["enum"].clone();
    for code in Code::ALL {
        assert!(codes.as_array().unwrap().contains(&code.entry().code.into()), "{code:?}");
    }
}

#[test]
fn a_route_refuses_with_what_its_policy_brings() {
    let document = made();
    let text = |status: &str| {
        let response = &document["paths"]["/api/v1/posts"]["post"]["responses"][status];
        response["description"].as_str().unwrap_or_default().to_owned()
    };
    assert!(text("401").contains("missing_api_key"));
    assert!(text("403").contains("insufficient_scope"));
    assert!(text("404").contains("account_not_found"));
    assert!(text("400").contains("caption_too_long"));
    assert!(text("422").contains("idempotency_mismatch"));
    assert!(text("429").contains("rate_limited"));
}

#[test]
fn parameters_are_never_null() {
    let document = made();
    walk(&document["paths"], &mut |object| {
        if object.get("in").is_some_and(|place| place == "query") {
            let schema = &object["schema"];
            let types = schema["type"].as_array().cloned().unwrap_or_default();
            let is_typed = !types.is_empty() || schema["type"].is_string();
            let is_one = is_typed || schema["$ref"].is_string();
            let is_null = types.iter().any(|one| one == "null");
            assert!(is_one && !is_null && schema.get("default").is_none(), "{object:?}");
        }
    });
}

#[test]
fn what_is_sent_and_what_is_answered_share_no_name_unless_they_are_the_same() {
    let mut schemas = Schemas::default();
    for route in ROUTES {
        let _ = route.bodies(&mut schemas.replies);
        let _ = route.body.map(|body| (body.schema)(&mut schemas.requests));
    }
    let answered = schemas.replies.take_definitions(true);
    let sent = schemas.requests.take_definitions(true);
    for (name, schema) in &sent {
        assert!(answered.get(name).is_none_or(|other| other == schema), "{name}");
    }
    assert!(sent.contains_key("NewPost") && answered.contains_key("Post"));
    // Two types of one name would get a number.
    let numbered = |name: &String| name.ends_with(|end: char| end.is_ascii_digit());
    assert!(!sent.keys().chain(answered.keys()).any(numbered));
}

#[test]
fn a_route_names_a_status_for_each_body_of_its_handler() {
    for route in ROUTES {
        let bodies = route.bodies(&mut SchemaGenerator::default());
        // The last body serves all further answers.
        let count = route.replies.iter().flatten().count();
        assert!((1..=count).contains(&bodies.len()), "{}", route.name);
        let statuses = route.replies.iter().flatten().map(|success| success.status);
        assert!(statuses.is_sorted(), "{}", route.name);
    }
}
