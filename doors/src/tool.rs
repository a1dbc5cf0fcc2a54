//! Refusals as agents read them.

use serde_json::{Map, Value};
use url::form_urlencoded;

use crate::{Operation, scan};

/// Writes a next call by HTTP as a call of a tool: its operation with arguments.
pub fn call(next: &mut Map<String, Value>, known: &[Operation]) {
    let text = |name: &str| next.get(name).and_then(Value::as_str).unwrap_or_default();
    let (path, query) = text("path").split_once('?').unwrap_or((text("path"), ""));
    let Some(operation) = scan::at(text("method"), path, known) else { return };
    let mut arguments = Map::new();
    for (known, given) in operation.path.split('/').zip(path.split('/')) {
        if let Some(name) = known.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            arguments.insert(name.to_owned(), read(given));
        }
    }
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        arguments.insert(name.into_owned(), read(&value));
    }
    if let Some(Value::Object(body)) = next.get("body") {
        arguments.extend(body.clone());
    }
    let id = operation.id.clone();
    for name in ["method", "path", "body"] {
        next.remove(name);
    }
    next.insert("operation".to_owned(), id.into());
    next.insert("arguments".to_owned(), arguments.into());
}

fn read(text: &str) -> Value {
    text.parse::<i64>().map_or_else(|_| text.into(), Value::from)
}

/// Returns a refusal as one text: what is wrong, what to do, and the id of the request.
pub fn text(body: &Value) -> String {
    let text = |name: &str| body[name].as_str().unwrap_or_default();
    let broken = body["validation_errors"].as_array().into_iter().flatten();
    let mut remedies: Vec<_> = broken.filter_map(|broken| broken["remedy"].as_str()).collect();
    remedies.dedup();
    remedies.extend(body["remedy"].as_str().filter(|own| !remedies.contains(own)));
    let remedy = match remedies.is_empty() {
        true => String::new(),
        false => format!(" Remedy: {}", remedies.join(" ")),
    };
    format!(
        "{}: {}{remedy}{}{} ({}; request {})",
        text("code"),
        text("error"),
        state(body),
        fixes_and_calls(body),
        text("doc_url"),
        text("request_id")
    )
}

/// Returns where the thing stands, and what it can change to.
fn state(body: &Value) -> String {
    let named = |name: &str, title: &str| match &body[name] {
        Value::Null => String::new(),
        Value::String(text) => format!(" {title}: {text}."),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().filter_map(Value::as_str).collect();
            format!(" {title}: {}.", items.join(", "))
        }
        other => format!(" {title}: {other}."),
    };
    named("status", "Status") + &named("allowed", "Allowed")
}

/// Returns the fixes and next calls as text, for clients that show agents only the text.
fn fixes_and_calls(body: &Value) -> String {
    let broken = body["validation_errors"].as_array().into_iter().flatten();
    let listed = |name: &str| -> Vec<Value> {
        let own = body[name].as_array().into_iter().flatten();
        let of_fields = broken.clone().flat_map(|one| one[name].as_array().into_iter().flatten());
        of_fields.chain(own).cloned().collect()
    };
    let mut text = String::new();
    for (name, title) in [("fix", "Fix (JSON Patch on the arguments)"), ("next", "Next")] {
        let entries = listed(name);
        if !entries.is_empty() {
            text += &format!(" {title}: {}", Value::Array(entries));
        }
    }
    text
}
