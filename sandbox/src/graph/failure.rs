//! The Graph API's error responses.

use salvo::http::Method;
use serde_json::{Value, json};

use crate::facts::Objection;
use crate::random::{self, BASE64URL};
use crate::reply::Reply;

/// Returns an error with its code; a subcode of 0 is left out.
pub(crate) fn graph(status: u16, code: u32, subcode: u32, message: &str) -> Reply {
    Reply::json(status, &json!({"error": error(code, subcode, message)}))
}

fn error(code: u32, subcode: u32, message: &str) -> Value {
    let trace = format!("A{}", random::text(BASE64URL, 22));
    let mut error =
        json!({"message": message, "type": "OAuthException", "code": code, "fbtrace_id": trace});
    if subcode > 0 {
        error["error_subcode"] = json!(subcode);
    }
    error
}

/// Returns an error with a message for users.
pub(crate) fn explained(
    status: u16,
    code: u32,
    subcode: u32,
    message: &str,
    title: &str,
    explanation: &str,
) -> Reply {
    let mut error = error(code, subcode, message);
    error["is_transient"] = json!(false);
    error["error_user_title"] = json!(title);
    error["error_user_msg"] = json!(explanation);
    Reply::json(status, &json!({"error": error}))
}

/// Returns the error of an invalid parameter.
pub(crate) fn invalid(explanation: &str) -> Reply {
    explained(400, 100, 0, "Invalid parameter", "Invalid parameter", explanation)
}

/// Returns the error for an id that does not exist or that the caller may not see.
pub(crate) fn missing(id: &str) -> Reply {
    let message = format!(
        "Unsupported get request. Object with ID '{id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation"
    );
    graph(400, 100, 33, &message)
}

/// Returns the error for an unknown path.
pub(crate) fn unknown_path(method: &Method, path: &str) -> Reply {
    graph(400, 2500, 0, &format!("Unknown path components: /{path} ({method})"))
}

/// Returns a fault's status in the Graph API's words.
pub(crate) fn of_status(status: u16) -> Reply {
    match status {
        400 => graph(400, 100, 0, "(#100) Invalid parameter"),
        401 => graph(401, 190, 0, "Invalid OAuth access token - Cannot parse access token"),
        403 => graph(403, 10, 0, "(#10) Application does not have permission for this action"),
        404 => graph(404, 803, 0, "(#803) Some of the aliases you requested do not exist"),
        429 => graph(429, 4, 0, "(#4) Application request limit reached"),
        status => {
            let mut error =
                error(2, 0, "An unexpected error has occurred. Please retry your request later.");
            error["is_transient"] = json!(true);
            Reply::json(status, &json!({"error": error}))
        }
    }
}

/// Returns the refusal of a request that Meta's description does not allow.
pub(crate) fn objection(objection: &Objection) -> Reply {
    match objection {
        Objection::Field { field, node } => super::fields::nonexisting(field, node),
        Objection::Metric(_) => {
            graph(400, 100, 0, "(#100) The value must be a valid insights metric")
        }
        Objection::Permission(names) => {
            let message = format!(
                "(#10) Application does not have permission for this action: it requires {}",
                names.join(", ")
            );
            graph(403, 10, 0, &message)
        }
        _ => graph(400, 100, 0, &format!("(#100) Param {objection}")),
    }
}
