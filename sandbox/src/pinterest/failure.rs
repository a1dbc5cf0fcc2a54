//! Pinterest's error responses.

use serde_json::json;

use crate::facts::Objection;
use crate::network::Refusal;
use crate::reply::Reply;

/// Returns an error with its number.
pub(super) fn error(status: u16, code: i64, message: &str) -> Reply {
    Reply::json(status, &json!({"code": code, "message": message}))
}

/// Returns the error of an invalid request.
pub(super) fn invalid(message: &str) -> Reply {
    error(400, 1, &format!("Invalid request: {message}"))
}

/// Returns the error of an invalid token.
pub(super) fn unauthenticated() -> Reply {
    error(401, 2, "Authentication failed.")
}

/// Returns the error of a token without the scope.
pub(super) fn unpermitted(scope: &str) -> Reply {
    let message = format!(
        "Your application consumer type is not supported, please contact support. Required scope: {scope}"
    );
    error(403, 3, &message)
}

/// Returns the error of a file that cannot be fetched.
pub(super) fn unreachable() -> Reply {
    error(400, 235, "Unable to reach the URL. Please check the URL is correct and try again.")
}

/// Returns a fault's status in Pinterest's words.
pub(super) fn of_status(refusal: Refusal) -> Reply {
    match refusal.status {
        400 => invalid("the parameters are not valid"),
        401 => unauthenticated(),
        403 => error(403, 29, "You are not permitted to access that resource."),
        404 => error(404, 40, "Board not found."),
        409 => error(409, 14, "There was a conflict with another request."),
        429 => error(429, 8, "This request exceeded a rate limit. Please retry soon.")
            .with("x-ratelimit-limit", 100)
            .with("x-ratelimit-remaining", 0)
            .with("x-ratelimit-reset", refusal.retry_seconds()),
        status @ 400..=499 => error(status, 1, "The request cannot be processed."),
        status => error(status, 0, "We are having trouble, please try again later."),
    }
}

/// Returns the refusal of a request that Pinterest's description does not allow.
pub(super) fn objection(objection: &Objection) -> Reply {
    match objection {
        Objection::Permission(names) => unpermitted(&names.join(",")),
        _ => invalid(&objection.to_string()),
    }
}
