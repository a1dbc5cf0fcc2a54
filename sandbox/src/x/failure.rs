//! X's error responses.

use serde_json::{Value, json};

use crate::facts::Objection;
use crate::reply::Reply;

/// Returns a problem in the API's format.
pub(super) fn problem(status: u16, title: &str, detail: &str) -> Reply {
    Reply::json(
        status,
        &json!({"title": title, "detail": detail, "type": "about:blank", "status": status}),
    )
}

/// Returns the error of a request with invalid parameters.
pub(super) fn invalid(messages: &[String]) -> Reply {
    let errors: Vec<Value> =
        messages.iter().map(|message| json!({"parameters": {}, "message": message})).collect();
    Reply::json(
        400,
        &json!({
            "errors": errors,
            "title": "Invalid Request",
            "detail": "One or more parameters to your request was invalid.",
            "type": "https://api.twitter.com/2/problems/invalid-request",
        }),
    )
}

/// Returns the error of one invalid parameter.
pub(super) fn wrong(message: &str) -> Reply {
    invalid(&[message.to_owned()])
}

/// Returns the error of a call that the account may not make.
pub(super) fn forbidden(detail: &str) -> Reply {
    problem(403, "Forbidden", detail)
}

pub(super) fn unauthorized() -> Reply {
    problem(401, "Unauthorized", "Unauthorized")
}

/// Returns the error for an unknown id.
pub(super) fn missing(id: &str) -> Reply {
    Reply::json(
        404,
        &json!({
            "title": "Not Found Error",
            "detail": format!("Could not find tweet with id: [{id}]."),
            "type": "https://api.twitter.com/2/problems/resource-not-found",
            "status": 404,
        }),
    )
}

/// Returns the error for too many calls, until `reset_ms`.
pub(super) fn too_many(reset_ms: i64) -> Reply {
    problem(429, "Too Many Requests", "Too Many Requests")
        .with("x-rate-limit-remaining", 0)
        .with("x-rate-limit-reset", reset_seconds(reset_ms))
}

/// Returns a time in the format of X's headers.
pub(super) fn reset_seconds(ms: i64) -> i64 {
    ms.div_euclid(1_000) + 1
}

/// Returns a fault's status in X's words.
pub(super) fn of_status(status: u16) -> Reply {
    match status {
        400 => wrong("Invalid parameter."),
        401 => unauthorized(),
        403 => forbidden("You are not permitted to perform this action."),
        404 => missing("0"),
        status => problem(status, "Service Unavailable", "Service Unavailable"),
    }
}

/// Returns the refusal of a request that X's schema does not allow.
pub(super) fn objection(objection: &Objection) -> Reply {
    let place = |path: &str| if path.is_empty() { "$".to_owned() } else { format!("$.{path}") };
    match objection {
        Objection::Permission(_) => {
            forbidden("Your token is not permitted to perform this action.")
        }
        Objection::Name { in_query: true, name, .. } => {
            wrong(&format!("The query parameter [{name}] is not one of those that are allowed"))
        }
        Objection::Name { .. } => wrong(&format!(
            "{}: is not defined in the schema and the schema does not allow additional properties",
            place(&objection.path())
        )),
        _ => wrong(&format!("{}: {objection}", place(&objection.path()))),
    }
}
