//! YouTube's error responses.

use crate::facts::Objection;
use crate::google::failure;
use crate::reply::Reply;

/// Returns an error of the API.
pub(super) fn error(status: u16, reason: &str, message: &str) -> Reply {
    failure::reason(status, "youtube", reason, message)
}

/// Returns the error of an invalid token.
pub(super) fn unauthorized() -> Reply {
    error(401, "authError", "Invalid Credentials")
}

/// Returns a fault's status in Google's words.
pub(super) fn of_status(status: u16) -> Reply {
    match status {
        400 => error(400, "badRequest", "The request is not valid."),
        401 => unauthorized(),
        403 => error(403, "forbidden", "The request is not properly authorized."),
        404 => error(404, "notFound", "The resource cannot be found."),
        409 => error(409, "conflict", "The request conflicts with another."),
        413 => error(413, "uploadTooLarge", "The upload is too large."),
        // Google does not say how long to wait.
        429 => error(429, "rateLimitExceeded", "Rate Limit Exceeded"),
        status @ 400..=499 => error(status, "badRequest", "The request cannot be processed."),
        status => error(status, "backendError", "Backend Error"),
    }
}

/// Returns the refusal of a request that Google's description does not allow.
pub(super) fn objection(objection: &Objection) -> Reply {
    match objection {
        Objection::Permission(_) => {
            error(403, "insufficientPermissions", "Request had insufficient authentication scopes.")
        }
        Objection::Value { in_query: true, path, .. } if path.starts_with("part") => {
            error(400, "unknownPart", &failure::objection(objection))
        }
        Objection::Value { in_query: false, .. } => {
            error(400, "invalidVideoMetadata", &failure::objection(objection))
        }
        _ => error(400, "badRequest", &failure::objection(objection)),
    }
}
