//! Pinterest's errors: `{"code", "message"}`.

use fanfare_outbound::Reply;
use serde::Deserialize;

use crate::{
    Error, ErrorKind, Session,
    response::{self, ResetHeader},
};

#[derive(Deserialize, Default)]
#[serde(default)]
struct Body {
    code: Option<i64>,
    message: Option<String>,
}

/// Fields of a pin, as messages about them name them (<https://developers.pinterest.com/docs/api/v5/pins-create>).
const FIELDS: [&str; 12] = [
    "title",
    "description",
    "link",
    "alt_text",
    "board",
    "dominant_color",
    "note",
    "product_tags",
    "sponsor_id",
    "parent_pin_id",
    "is not of type",
    "required property",
];

/// Converts a response that is not a success into an error.
pub(super) fn parse_error(session: &Session, reply: &Reply) -> Error {
    let body = serde_json::from_slice::<Body>(&reply.body).unwrap_or_default();
    let said = session.secrets.redact(body.message.as_deref().unwrap_or_default());
    let code = body.code.map(|code| code.to_string());
    classify(session, reply, &said).with_reply(reply.status, code.as_deref(), Some(&said))
}

fn classify(session: &Session, reply: &Reply, said: &str) -> Error {
    let says = |part: &str| said.to_ascii_lowercase().contains(part);
    match reply.status {
        // It does not distinguish an expired token from a revoked one; a refresh does.
        401 => Error::new(ErrorKind::TokenExpired, "Pinterest does not accept the access token."),
        403 if says("trial access") => Error::misconfigured(
            "Pinterest lets this service's app create no pins: its access is a trial.",
        )
        .with_remedy("Ask the operator of this service to apply for standard access at Pinterest.")
        .nothing_done(),
        403 => Error::permission_missing("Pinterest does not let the account pin there.")
            .with_remedy(
                "Choose a board of the account's own, or connect it again with all permissions.",
            ),
        404 if says("board") => Error::rejected("Pinterest has no such board.").with_remedy(
            "Give the id of one of the account's boards; pinterest.boards lists them.",
        ),
        409 => Error::transient("Pinterest is busy with another request of this account."),
        429 => {
            let wait =
                response::retry_delay(session, reply, &[ResetHeader::Seconds("x-ratelimit-reset")]);
            Error::new(ErrorKind::RateLimited, "Pinterest asks to slow down.")
                .with_retry_after(wait)
        }
        400..=499 if says("unable to reach the url") => {
            Error::transient("Pinterest could not fetch a file for the moment.").nothing_done()
        }
        400..=499 if says("image") || says("video") || says("media") => Error::media_rejected(
            format!("Pinterest did not take a file: {}.", said.trim_end_matches('.')),
        )
        .with_remedy(
            "Use a JPEG or PNG of at most 20 MB, or an MP4 or MOV of 4 seconds to 15 minutes.",
        ),
        // The message names the field that was checked.
        400 if FIELDS.iter().any(|field| says(field)) => {
            response::error_by_status("Pinterest", reply, said).nothing_done()
        }
        _ => response::error_by_status("Pinterest", reply, said),
    }
}

/// Returns true if a refusal is about product tags, which few apps may send.
pub(super) fn is_about_tags(error: &Error) -> bool {
    let reply = error.reply.as_ref().filter(|reply| matches!(reply.status, 400 | 403));
    let said = reply.and_then(|reply| reply.message.as_deref());
    said.is_some_and(|said| said.contains("product_tags"))
}
