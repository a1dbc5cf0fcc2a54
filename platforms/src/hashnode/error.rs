//! Hashnode's errors: `errors[].extensions.code` of GraphQL, mostly with 200.

use fanfare_outbound::Reply;
use serde_json::Value;

use crate::{Error, ErrorKind, Session, response};

/// Converts an operation's first error.
pub fn operation_error(session: &Session, reply: &Reply, error: &Value) -> Error {
    let code = error.pointer("/extensions/code").and_then(Value::as_str).unwrap_or_default();
    let said = session.secrets.redact(error["message"].as_str().unwrap_or_default());
    let reason = said.trim_end_matches('.');
    let error = match code {
        "UNAUTHENTICATED" => Error::reconnect("Hashnode no longer accepts the access token.")
            .with_remedy("Make a new personal access token and connect the account again."),
        // Plan, publication and series are looked up before an article is made.
        "FORBIDDEN" if said.contains("Pro plan") => {
            Error::permission_missing("The publication is not on Hashnode's Pro plan, which publishing through the API needs.")
                .with_remedy("Subscribe the publication to the Pro plan, then retry the post.")
                .nothing_done()
        }
        "FORBIDDEN" => Error::permission_missing(format!("Hashnode does not let the user do this: {reason}."))
            .with_remedy("Give the user the right to publish in this publication, then retry the post."),
        "NOT_FOUND" => Error::target_gone(format!("Hashnode does not find what the post names: {reason}."))
            .with_remedy("Check publication_id and series_id.")
            .nothing_done(),
        "BAD_USER_INPUT" | "GRAPHQL_VALIDATION_FAILED" | "GRAPHQL_PARSE_FAILED" => {
            Error::rejected(format!("Hashnode refuses the article: {reason}."))
        }
        "RATE_LIMITED" | "TOO_MANY_REQUESTS" => {
            Error::new(ErrorKind::RateLimited, "Hashnode asks to wait.")
                .with_retry_after(reply.retry_after())
        }
        "INTERNAL_SERVER_ERROR" => Error::new(ErrorKind::Server, "Hashnode has a problem of its own."),
        _ => Error::rejected(format!("Hashnode refuses the request: {reason}.")).left_open(),
    };
    let words = Some(said.as_str()).filter(|said| !said.is_empty());
    error.with_reply(reply.status, Some(code).filter(|code| !code.is_empty()), words)
}

/// Converts a response with a status other than 200; it may contain a GraphQL error too.
pub fn error_of_reply(session: &Session, reply: &Reply) -> Error {
    let body: Value = reply.json().unwrap_or_default();
    match body.pointer("/errors/0") {
        Some(first) if reply.status < 500 && reply.status != 429 => {
            operation_error(session, reply, first)
        }
        _ => response::error_by_status("Hashnode", reply, "").with_reply(reply.status, None, None),
    }
}
