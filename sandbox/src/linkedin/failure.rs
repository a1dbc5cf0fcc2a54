//! LinkedIn's error responses.

use serde_json::json;

use crate::facts::Objection;
use crate::reply::Reply;

/// Returns an error with its code.
pub(super) fn error(status: u16, code: &str, message: &str) -> Reply {
    Reply::json(status, &json!({"status": status, "code": code, "message": message}))
}

/// Returns an error about the token, which also has a number.
pub(super) fn token(number: u32, code: &str, message: &str) -> Reply {
    let body = json!({"status": 401, "serviceErrorCode": number, "code": code, "message": message});
    Reply::json(401, &body)
}

/// Returns the error of a member without permission.
pub(super) fn denied(message: &str) -> Reply {
    let body = json!({"status": 403, "serviceErrorCode": 100, "code": "ACCESS_DENIED", "message": message});
    Reply::json(403, &body)
}

/// Returns the error of an invalid field.
pub(super) fn invalid(field: &str, why: &str) -> Reply {
    let message = format!("ERROR :: /{field} :: {why}");
    error(422, "UNPROCESSABLE_ENTITY", &message)
}

/// Returns the error of a field that a request may not have.
pub(super) fn unpermitted(field: &str) -> Reply {
    let message = format!(
        "Unpermitted fields present in REQUEST_BODY: Data Processing Exception while processing fields [/{field}]"
    );
    error(422, "UNPERMITTED_FIELDS", &message)
}

/// Returns the error of an incomplete request.
pub(super) fn malformed(message: &str) -> Reply {
    error(400, "ILLEGAL_ARGUMENT", message)
}

/// Returns the error for something that does not exist.
pub(super) fn missing(what: &str) -> Reply {
    error(404, "NOT_FOUND", &format!("Could not find entity {what}"))
}

/// Returns an error of the token endpoint.
pub(super) fn oauth(status: u16, code: &str, description: &str) -> Reply {
    Reply::json(status, &json!({"error": code, "error_description": description}))
}

/// Returns a fault's status in LinkedIn's words.
pub(super) fn of_status(status: u16) -> Reply {
    match status {
        400 => malformed("Invalid param"),
        401 => token(65_600, "INVALID_ACCESS_TOKEN", "Invalid access token"),
        403 => denied("Not enough permissions to access: POST /posts"),
        404 => missing("/posts"),
        409 => error(409, "CONFLICT", "The resource was changed by another request"),
        413 => error(413, "REQUEST_ENTITY_TOO_LARGE", "The request is too large"),
        422 => error(422, "UNPROCESSABLE_ENTITY", "Unprocessable entity"),
        // LinkedIn does not say how long to wait.
        429 => error(
            429,
            "TOO_MANY_REQUESTS",
            "Resource level throttle limit for calls to this resource is reached.",
        ),
        status => error(status, "INTERNAL_SERVER_ERROR", "Internal Server Error"),
    }
}

/// Returns the refusal of a request that LinkedIn's description does not allow.
pub(super) fn objection(objection: &Objection) -> Reply {
    let unpermitted = |place: &str| {
        let field = objection.path().replace('.', "/");
        format!(
            "Unpermitted fields present in {place}: Data Processing Exception while processing fields [/{field}]"
        )
    };
    match objection {
        Objection::Permission(names) => {
            denied(&format!("Not enough permissions to access: it requires {}", names.join(", ")))
        }
        Objection::Name { in_query: true, .. } => malformed(&unpermitted("PARAMETER")),
        Objection::Name { .. } => error(422, "UNPROCESSABLE_ENTITY", &unpermitted("REQUEST_BODY")),
        Objection::Value { in_query: true, .. } => malformed(&objection.to_string()),
        _ => invalid(&objection.path().replace('.', "/"), &objection.to_string()),
    }
}
