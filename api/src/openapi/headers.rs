//! The headers of replies.

use serde_json::{Map, Value, json};

use crate::middleware::rate_limit;

const REQUEST_ID: &str = "X-Request-Id";
const RETRY_AFTER: &str = "Retry-After";
const REPLAYED: &str = "Idempotent-Replayed";
const VERSION: &str = "ETag";

/// Returns the components of all headers.
pub fn all() -> Map<String, Value> {
    let header = |doc: &str, kind: &str| json!({"description": doc, "schema": {"type": kind}});
    let number = |doc: &str| header(doc, "integer");
    let mut all = Map::new();
    let id = json!({
        "description": "Id of the request, also in its log lines and events.",
        "schema": {"type": "string"},
    });
    all.insert(REQUEST_ID.to_owned(), id);
    for (name, doc) in rate_limit::HEADERS {
        let kind = if name == rate_limit::RESOURCE { "string" } else { "integer" };
        all.insert(name.to_owned(), header(doc, kind));
    }
    all.insert(RETRY_AFTER.to_owned(), number("Seconds until it is worth trying again."));
    let replayed = json!({
        "description": "`true` if this is the stored reply of an earlier request with the same `Idempotency-Key`; \
            else it is left out.",
        "schema": {"type": "string", "enum": ["true"]},
    });
    all.insert(REPLAYED.to_owned(), replayed);
    let version =
        header("The version of what is shown, in quotation marks, for `If-Match`.", "string");
    all.insert(VERSION.to_owned(), version);
    all
}

/// Adds `ETag`.
pub fn with_version(headers: &Value) -> Value {
    with(headers, VERSION)
}

/// Returns the headers of every reply.
pub fn common() -> Value {
    Value::Object(references([REQUEST_ID]))
}

/// Returns the headers of every reply of `/api/v1`.
pub fn api() -> Value {
    let names = [REQUEST_ID].into_iter().chain(rate_limit::HEADERS.map(|(name, _)| name));
    Value::Object(references(names))
}

/// Adds `Retry-After`.
pub fn with_retry(headers: &Value) -> Value {
    with(headers, RETRY_AFTER)
}

/// Adds `Idempotent-Replayed`.
pub fn with_replayed(headers: &Value) -> Value {
    with(headers, REPLAYED)
}

fn with(headers: &Value, name: &'static str) -> Value {
    let mut headers = headers.as_object().cloned().unwrap_or_default();
    headers.append(&mut references([name]));
    Value::Object(headers)
}

fn references(names: impl IntoIterator<Item = &'static str>) -> Map<String, Value> {
    let reference = |name: &str| json!({"$ref": format!("#/components/headers/{name}")});
    names.into_iter().map(|name| (name.to_owned(), reference(name))).collect()
}
