//! Google's error responses.

use serde_json::{Value, json};

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
