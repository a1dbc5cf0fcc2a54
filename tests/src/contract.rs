//! Checks replies against the OpenAPI document: each field must be in the document, with the right type.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use jsonschema::Validator;
use reqwest::Method;
use serde_json::{Map, Value, json};

/// The document, changed so that records have no other fields. Callers must accept unknown fields; tests must not.
static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let mut document = fanfare_api::document("https://service.example");
    close(&mut document);
    document
});

/// Validators by the JSON Pointer of their schema.
static KNOWN: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Checks the reply to a request.
///
/// # Panics
/// The document does not name the status for this operation, or describes another body.
#[track_caller]
pub fn check(method: &Method, path: &str, status: u16, body: &Value) {
    let path = path.split('?').next().unwrap_or_default();
    let Some(place) = place(method, path, status) else { return };
    let validator = validator(&place);
    let broken: Vec<_> = validator
        .iter_errors(body)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .take(10)
        .collect();
    assert!(
        broken.is_empty(),
        "{method} {path} answers {status} otherwise than the OpenAPI document says:\n{}\n{body:#}",
        broken.join("\n")
    );
}

/// Checks an event, as it is sent to a webhook.
///
/// # Panics
/// The document describes another event, or holds something else for its type.
#[track_caller]
pub fn check_event(event: &Value) {
    let validator = validator("/components/schemas/Event");
    let broken: Vec<_> = validator.iter_errors(event).map(|error| error.to_string()).collect();
    assert!(broken.is_empty(), "{}\n{event:#}", broken.join("\n"));
}

/// Returns the JSON Pointer of the reply's schema; `None` for a path outside the API that is not in the document.
fn place(method: &Method, path: &str, status: u16) -> Option<String> {
    let error = || Some("/components/schemas/Error".to_owned());
    let Some(template) = template(path) else {
        return if path.starts_with("/api/v1/") { error() } else { None };
    };
    let method = method.as_str().to_lowercase();
    let Some(operation) = DOCUMENT["paths"][template].get(&method) else { return error() };
    let described = &operation["responses"][status.to_string()]["content"]["application/json"];
    let name = &operation["operationId"];
    assert!(described.is_object(), "{name} answers {status}, which is not in the OpenAPI document");
    Some(format!(
        "/paths/{}/{method}/responses/{status}/content/application~1json/schema",
        template.replace('/', "~1")
    ))
}

/// Returns the path template of a request's path; fixed segments take precedence over parameters.
fn template(path: &str) -> Option<&'static str> {
    let steps: Vec<_> = path.split('/').collect();
    let is_one = |template: &str| {
        let known: Vec<_> = template.split('/').collect();
        let fits = |(known, step): (&&str, &&str)| known.starts_with('{') || known == step;
        known.len() == steps.len() && known.iter().zip(&steps).all(fits)
    };
    let known = DOCUMENT["paths"].as_object().into_iter().flat_map(|paths| paths.keys());
    let fitting = known.filter(|template| is_one(template)).map(String::as_str);
    fitting.min_by_key(|template| template.matches('{').count())
}

fn validator(place: &str) -> Arc<Validator> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(validator) = known.get(place) {
        return Arc::clone(validator);
    }
    let schema = DOCUMENT.pointer(place).expect("the document describes the reply");
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "allOf": [schema],
        "components": {"schemas": DOCUMENT["components"]["schemas"]},
    });
    let options = jsonschema::options().should_validate_formats(true);
    let validator = Arc::new(options.build(&schema).expect("the document holds JSON Schemas"));
    known.insert(place.to_owned(), Arc::clone(&validator));
    validator
}

/// Forbids additional fields in all records.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            close_parts(fields);
            if fields.contains_key("properties") && !fields.contains_key("additionalProperties") {
                fields.insert("additionalProperties".to_owned(), false.into());
            }
        }
        Value::Array(list) => list.iter_mut().for_each(close),
        _ => {}
    }
}

/// Forbids additional fields in the records inside a schema. A condition speaks of some fields of a record that is closed
/// where it stands.
fn close_parts(fields: &mut Map<String, Value>) {
    for (name, inner) in fields {
        match inner {
            Value::Object(parts) if ["if", "then", "else"].contains(&name.as_str()) => {
                close_parts(parts);
            }
            _ => close(inner),
        }
    }
}
