//! Mastodon's errors: `{"error", "error_description"}`.

use fanfare_outbound::Reply;
use serde::Deserialize;

use crate::{
    Error, ErrorKind, Session,
    response::{self, ResetHeader},
};

#[derive(Default, Deserialize)]
struct Body {
    error: Option<String>,
    error_description: Option<String>,
}

/// Converts an error response.
pub fn parse_error(session: &Session, reply: &Reply) -> Error {
    let body: Body = reply.json().unwrap_or_default();
    let said = body.error_description.or(body.error).unwrap_or_default();
    let said = session.secrets.redact(&said);
    let why = said.trim_start_matches("Validation failed: ");
    let error = match reply.status {
        401 => Error::reconnect("The instance no longer accepts the account's access.")
            .with_remedy("Connect the account again."),
        403 => Error::reconnect(format!("The instance does not let the account do this: {}.", why.trim_end_matches('.')))
            .with_remedy("Check on the instance that the account is not limited, then connect it again with all permissions."),
        404 => Error::rejected("The instance does not find what the post names.")
            .with_remedy("Check settings.quoted_status_id; the status may have been deleted."),
        409 => Error::transient("The instance is busy with another request of this account."),
        422 if why.contains("finished processing") => {
            Error::transient("The instance is still processing a file of the post.").nothing_done()
        }
        422 if why.starts_with("File") || why.contains("content type") => {
            Error::media_rejected(format!("The instance does not take a file: {}.", why.trim_end_matches('.')))
        }
        // Nothing is stored of a status that does not validate, <https://docs.joinmastodon.org/methods/statuses/#422>. The
        // one that is there already is refused with the same status.
        422 if !said.is_empty() && !said.eq_ignore_ascii_case("Duplicate record") => {
            response::error_by_status("The instance", reply, why).nothing_done()
        }
        429 => Error::new(ErrorKind::RateLimited, "The instance asks to wait.")
            .with_retry_after(response::retry_delay(session, reply, &[ResetHeader::Rfc3339("x-ratelimit-reset")])),
        _ => response::error_by_status("The instance", reply, why),
    };
    error.with_reply(reply.status, None, Some(said.as_str()).filter(|said| !said.is_empty()))
}
