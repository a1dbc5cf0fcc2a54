//! Error responses of the Business Profile APIs.

use serde_json::{Value, json};

use crate::facts::Objection;
use crate::google::failure::{self, status};
use crate::reply::Reply;

const NONE: Value = Value::Null;

/// Returns the error of a request with an invalid field.
pub(super) fn invalid(field: &str, message: &str) -> Reply {
    let details = json!([{
        "@type": "type.googleapis.com/google.mybusiness.v4.ValidationError",
        "errorDetails": [{"code": 3, "field": field, "message": message}],
    }]);
    status(400, "INVALID_ARGUMENT", "Request contains an invalid argument.", &details)
}

/// Returns the error of a request that names a field which does not exist, or gives it an impossible value.
pub(super) fn violation(field: &str, message: &str) -> Reply {
    let details = json!([{
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [{"field": field, "description": message}],
    }]);
    status(400, "INVALID_ARGUMENT", message, &details)
}

/// Returns the error of an unknown field of a JSON body; `path` is that of the object that holds it.
pub(super) fn unknown(path: &str, name: &str) -> Reply {
    let message = format!(
        "Invalid JSON payload received. Unknown name \"{name}\" at '{path}': Cannot find field."
    );
    violation(path, &message)
}

/// Returns the error of a value that an enumeration does not have.
pub(super) fn no_value(field: &str, kind: &str, value: &str) -> Reply {
    violation(field, &format!("Invalid value at '{field}' ({kind}), \"{value}\""))
}

/// Returns the error of an invalid token.
pub(super) fn unauthenticated() -> Reply {
    let message = "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.";
    status(401, "UNAUTHENTICATED", message, &NONE)
}

/// Returns the error of a token without the scope.
pub(super) fn scope() -> Reply {
    let details = json!([{
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
        "domain": "googleapis.com",
    }]);
    let message = "Request had insufficient authentication scopes.";
    status(403, "PERMISSION_DENIED", message, &details)
}

/// Returns the error for another user's location.
pub(super) fn denied() -> Reply {
    status(403, "PERMISSION_DENIED", "The caller does not have permission", &NONE)
}

/// Returns the error for something that does not exist.
pub(super) fn missing() -> Reply {
    status(404, "NOT_FOUND", "Requested entity was not found.", &NONE)
}

/// Returns the error for too many calls in a minute. Google does not say how long to wait.
pub(super) fn exhausted() -> Reply {
    let details = json!([{
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "RATE_LIMIT_EXCEEDED",
        "domain": "googleapis.com",
        "metadata": {"service": "mybusiness.googleapis.com", "quota_limit_value": "10"},
    }]);
    let message = "Quota exceeded for quota metric 'Edits' and limit 'Edits per minute per profile' of service 'mybusiness.googleapis.com'.";
    status(429, "RESOURCE_EXHAUSTED", message, &details)
}

/// Returns a fault's status in Google's words.
pub(super) fn of_status(code: u16) -> Reply {
    let say = |word, message| status(code, word, message, &NONE);
    match code {
        400 => say("INVALID_ARGUMENT", "Request contains an invalid argument."),
        401 => unauthenticated(),
        403 => denied(),
        404 => missing(),
        409 => say("ABORTED", "The operation was aborted."),
        429 => exhausted(),
        other @ 400..=499 => {
            status(other, "FAILED_PRECONDITION", "Precondition check failed.", &NONE)
        }
        503 => say("UNAVAILABLE", "The service is currently unavailable."),
        _ => say("INTERNAL", "Internal error encountered."),
    }
}

/// Returns the refusal of a request that Google's description does not allow.
pub(super) fn objection(objection: &Objection) -> Reply {
    match objection {
        Objection::Permission(_) => scope(),
        Objection::Name { in_query: false, path, name } => unknown(&of_post(path), name),
        Objection::Value { in_query: false, path, why } => invalid(&snake(path), why),
        _ => status(400, "INVALID_ARGUMENT", &failure::objection(objection), &NONE),
    }
}

/// Returns a field's name as Google's errors have it: `topicType` is `topic_type`.
fn snake(path: &str) -> String {
    path.chars().fold(String::new(), |mut name, sign| {
        if sign.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(sign.to_ascii_lowercase());
        name
    })
}

/// Returns the path of an object in a body as Google's errors have it: `media.0` is `local_post.media[0]`.
fn of_post(path: &str) -> String {
    let steps = path.split('.').filter(|step| !step.is_empty());
    steps.fold("local_post".to_owned(), |whole, step| match step.parse::<u32>() {
        Ok(number) => format!("{whole}[{number}]"),
        Err(_) => format!("{whole}.{step}"),
    })
}
