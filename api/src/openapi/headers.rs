//! The headers of replies.

use serde_json::{Map, Value, json};

use crate::middleware::rate_limit;

const REQUEST_ID: &str = "X-Request-Id";
const RETRY_AFTER: &str = "Retry-After";

/// Returns the components of all headers.
pub fn all() -> Map<String, Value> {
    let number = |doc: &str| json!({"description": doc, "schema": {"type": "integer"}});
    let mut all = Map::new();
    let id = json!({
        "description": "Id of the request, also in its log lines and events.",
        "schema": {"type": "string"},
    });
    all.insert(REQUEST_ID.to_owned(), id);
    for (name, doc) in rate_limit::HEADERS {
        all.insert(name.to_owned(), number(doc));
    }
    all.insert(RETRY_AFTER.to_owned(), number("Seconds until it is worth trying again."));
    all
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
    let mut headers = headers.as_object().cloned().unwrap_or_default();
    headers.append(&mut references([RETRY_AFTER]));
    Value::Object(headers)
}

fn references(names: impl IntoIterator<Item = &'static str>) -> Map<String, Value> {
    let reference = |name: &str| json!({"$ref": format!("#/components/headers/{name}")});
    names.into_iter().map(|name| (name.to_owned(), reference(name))).collect()
}
