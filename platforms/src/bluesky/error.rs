//! Reads a server's errors.

use fanfare_outbound::Reply;
use serde::Deserialize;

use crate::{
    Error, ErrorKind, Session,
    response::{self, ResetHeader},
};

#[derive(Default, Deserialize)]
struct Body {
    error: Option<String>,
    message: Option<String>,
}

/// Converts an error response (<https://docs.bsky.app/docs/advanced-guides/rate-limits> for the waits, the lexicons for
/// the codes).
pub fn parse_error(session: &Session, reply: &Reply) -> Error {
    let body: Body = reply.json().unwrap_or_default();
    let code = body.error.as_deref().unwrap_or_default();
    let words = body.message.map(|text| session.secrets.redact(&text));
    let said = words.as_deref().filter(|text| !text.is_empty()).unwrap_or(code);
    let error = match (code, reply.status) {
        ("ExpiredToken" | "InvalidToken", _) => {
            Error::new(ErrorKind::TokenExpired, "The session with Bluesky has expired.")
        }
        ("AuthFactorTokenRequired", _) => Error::invalid_credentials(
            "Bluesky asks for a code sent by e-mail, so this is the main password.",
        )
        .with_remedy("Make an app password in Bluesky's settings and connect with that."),
        ("AccountTakedown" | "AccountSuspended" | "RepoTakendown" | "RepoSuspended", _) => {
            Error::reconnect("Bluesky has suspended the account.")
        }
        ("AccountDeactivated" | "RepoDeactivated", _) => {
            // A server says so, too, of an account that has moved to another one.
            Error::reconnect("The account is deactivated, or has moved to another server.").with_remedy(
                "Activate the account in Bluesky, or connect it again with the address of its new server as service.",
            )
        }
        ("AuthenticationRequired", _) => Error::reconnect(
            "Bluesky does not accept the handle and app password.",
        )
        .with_remedy("Check both, or make a new app password, and connect the account again."),
        (_, 429) => Error::new(ErrorKind::RateLimited, "Bluesky asks to wait.").with_retry_after(
            response::retry_delay(session, reply, &[ResetHeader::Unix("ratelimit-reset")]),
        ),
        ("BlobTooLarge" | "InvalidMimeType", _) | (_, 413) => {
            Error::media_rejected(format!("Bluesky does not take the file: {said}."))
        }
        // A refresh shows whether the credentials are still valid.
        (_, 401) => Error::new(ErrorKind::TokenExpired, "Bluesky does not accept the session."),
        ("MethodNotImplemented" | "XRPCNotSupported", _) | (_, 404 | 405 | 501) => {
            Error::target_gone("The server does not offer what is needed.")
                .with_remedy("Check that the address of the account's server is right.")
        }
        ("UpstreamFailure" | "UpstreamTimeout" | "InternalServerError", _)
        | (_, 408 | 500..=599) => {
            Error::new(ErrorKind::Server, "Bluesky has a problem of its own.")
        }
        _ => response::error_by_status("Bluesky", reply, said),
    };
    error.with_reply(reply.status, body.error.as_deref(), words.as_deref())
}
