//! Google's error responses.

use serde_json::{Value, json};

use crate::facts::Objection;
use crate::reply::Reply;

/// Returns an error of an older API, with its reason.
pub(crate) fn reason(status: u16, domain: &str, reason: &str, message: &str) -> Reply {
    let one = json!({"message": message, "domain": domain, "reason": reason});
    Reply::json(status, &json!({"error": {"code": status, "message": message, "errors": [one]}}))
}

/// Returns an error of a newer API, with its status name.
pub(crate) fn status(code: u16, word: &str, message: &str, details: &Value) -> Reply {
    let mut error = json!({"code": code, "message": message, "status": word});
    if details.as_array().is_some_and(|details| !details.is_empty()) {
        error["details"] = details.clone();
    }
    Reply::json(code, &json!({ "error": error }))
}

/// Returns an error of the token endpoint.
pub(crate) fn oauth(code: &str, description: &str) -> Reply {
    Reply::json(400, &json!({"error": code, "error_description": description}))
}

/// Returns what Google says of a request that its description does not allow.
pub(crate) fn objection(objection: &Objection) -> String {
    match objection {
        Objection::Name { in_query: true, name, .. } => format!(
            "Invalid JSON payload received. Unknown name \"{name}\": Cannot bind query parameter. Field '{name}' could not be found in request message."
        ),
        Objection::Name { path, name, .. } if path.is_empty() => {
            format!("Invalid JSON payload received. Unknown name \"{name}\": Cannot find field.")
        }
        Objection::Name { path, name, .. } => format!(
            "Invalid JSON payload received. Unknown name \"{name}\" at '{path}': Cannot find field."
        ),
        Objection::Value { path, why, .. } => format!("Invalid value at '{path}': {why}"),
        _ => objection.to_string(),
    }
}
