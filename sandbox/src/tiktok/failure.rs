//! TikTok's way of saying no: every response has an `error`, whose code is `ok` for a success.

use serde_json::{Value, json};

use crate::facts::Objection;
use crate::random::{self, BASE62};
use crate::reply::{HandlerResult, Reply};

fn error_object(code: &str, message: &str) -> Value {
    json!({"code": code, "message": message, "log_id": random::text(BASE62, 32)})
}

/// Returns a success with data.
pub(super) fn success(data: Value) -> HandlerResult {
    Ok(Reply::ok(&json!({"data": data, "error": error_object("ok", "")})))
}

/// Returns an error.
pub(super) fn error(status: u16, code: &str, message: &str) -> Reply {
    Reply::json(status, &json!({"data": {}, "error": error_object(code, message)}))
}

/// Returns the error of an invalid request.
pub(super) fn invalid(message: &str) -> Reply {
    error(400, "invalid_params", message)
}

/// Returns an error of the token endpoint.
pub(super) fn oauth(code: &str, description: &str) -> Reply {
    let body = json!({"error": code, "error_description": description, "log_id": random::text(BASE62, 32)});
    Reply::json(400, &body)
}

/// Returns an error of the upload server, which does not use JSON.
pub(super) fn upload(status: u16, message: &str) -> Reply {
    Reply::raw(status, message.to_owned())
}

/// Returns a fault's status in TikTok's words.
pub(super) fn of_status(status: u16) -> Reply {
    match status {
        400 => invalid("The parameters are not valid"),
        401 => error(
            401,
            "access_token_invalid",
            "The access token is invalid or not found in the request.",
        ),
        403 => error(
            403,
            "spam_risk_user_banned_from_posting",
            "The user is banned from making new posts.",
        ),
        404 => error(404, "invalid_publish_id", "The publish_id does not exist"),
        // TikTok does not say how long to wait.
        429 => error(
            429,
            "rate_limit_exceeded",
            "The API rate limit was exceeded. Please try again later.",
        ),
        status @ 400..=499 => error(status, "invalid_params", "The request cannot be processed"),
        status => error(status, "internal_error", "Something went wrong. Please try again later."),
    }
}

/// Returns the refusal of a request that TikTok's description does not allow.
pub(super) fn objection(objection: &Objection) -> Reply {
    match objection {
        Objection::Permission(names) => {
            let message = format!(
                "The user did not authorize the scope {} required for completing this request.",
                names.join(",")
            );
            error(401, "scope_not_authorized", &message)
        }
        _ => invalid(&objection.to_string()),
    }
}
