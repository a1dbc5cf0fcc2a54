//! LinkedIn's errors: `{"status", "serviceErrorCode", "code", "message", "errorDetails"}`.

use std::time::Duration;

use chrono::{DateTime, Days, NaiveTime, Utc};
use fanfare_outbound::Reply;
use serde::Deserialize;
use serde_json::Value;

use super::DEFAULT_WAIT;
use crate::{Error, ErrorKind, Session, response};

/// The `serviceErrorCode` of an expired token (not of a revoked one).
const TOKEN_EXPIRED: u64 = 65_602;

/// Messages of refusals that turned out to be temporary.
const TRANSIENT_MESSAGES: [&str; 2] = ["resource is forbidden", "unable to obtain activity"];

/// Parts of messages about a field of the post.
const FIELDS: [&str; 12] = [
    " :: ",
    "field",
    "commentary",
    "too long",
    "characters",
    "image",
    "video",
    "document",
    "asset",
    "request body",
    "urn:",
    "parameter",
];

/// Starts of codes about the form of a call, which is checked before anything is made of it
/// (<https://learn.microsoft.com/en-us/linkedin/shared/api-guide/concepts/error-handling>).
const FORM: [&str; 11] = [
    "EMPTY_",
    "FIELD_",
    "ILLEGAL_ARGUMENT",
    "INVALID_",
    "MEDIA_ASSET_",
    "MISSING_",
    "PARAM_",
    "QUERY_PARAM_",
    "UNPERMITTED_",
    "UNPROCESSABLE_ENTITY",
    "VERSION_",
];

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Body {
    service_error_code: Option<u64>,
    code: Option<String>,
    message: Option<String>,
    error_details: Value,
}

impl Body {
    fn is_about_form(&self) -> bool {
        let code = self.code.as_deref().unwrap_or_default();
        FORM.iter().any(|start| code.starts_with(start))
            || self.error_details["inputErrors"].as_array().is_some_and(|list| !list.is_empty())
    }
}

/// Converts a response that is not a success into an error.
pub(super) fn parse_error(session: &Session, reply: &Reply) -> Error {
    let body = serde_json::from_slice::<Body>(&reply.body).unwrap_or_default();
    let said = session.secrets.redact(body.message.as_deref().unwrap_or_default());
    let number = body.service_error_code.map(|code| code.to_string());
    let code = body.code.as_deref().or(number.as_deref());
    classify(session, reply, &body, &said).with_reply(reply.status, code, Some(&said))
}

fn classify(session: &Session, reply: &Reply, body: &Body, said: &str) -> Error {
    let says = |part: &str| said.to_ascii_lowercase().contains(part);
    match reply.status {
        401 if body.service_error_code == Some(TOKEN_EXPIRED) || says("expired") => {
            Error::new(ErrorKind::TokenExpired, "The LinkedIn access token has expired.")
        }
        403 if TRANSIENT_MESSAGES.iter().any(|part| says(part)) => {
            Error::transient("LinkedIn did not let the account do this for the moment.")
        }
        403 => Error::permission_missing(sentence(
            "LinkedIn does not let the account do this",
            said,
        ))
        .with_remedy(
            "Connect the account again with all permissions; for a page the member must be its \
                 administrator.",
        ),
        409 => Error::transient("LinkedIn is busy with another request of this account."),
        422 if says("duplicate") => Error { earlier: urn_in(said), ..Error::duplicate("LinkedIn") },
        // The message or the code names the field that was checked.
        400 | 422 if FIELDS.iter().any(|part| says(part)) || body.is_about_form() => {
            response::error_by_status("LinkedIn", reply, said).nothing_done()
        }
        426 => {
            Error::misconfigured("LinkedIn no longer speaks the version of its API that is used.")
                .with_remedy("Ask the operator to update Fanfare.")
                .nothing_done()
        }
        429 => rate_limited(session, reply, says("day")),
        _ => response::error_by_status("LinkedIn", reply, said),
    }
}

/// Returns the error for a rate limit. LinkedIn does not say how long to wait; daily limits reset at midnight UTC.
fn rate_limited(session: &Session, reply: &Reply, is_of_a_day: bool) -> Error {
    let told = reply.retry_after();
    if is_of_a_day {
        return Error::new(
            ErrorKind::QuotaExhausted,
            "The account has used up what LinkedIn lets it do in a day.",
        )
        .with_retry_after(told.or_else(|| until_midnight(session.now)));
    }
    Error::new(ErrorKind::RateLimited, "LinkedIn asks to slow down.")
        .with_retry_after(told.or(Some(DEFAULT_WAIT)))
}

fn until_midnight(now: DateTime<Utc>) -> Option<Duration> {
    let tomorrow = now.date_naive().checked_add_days(Days::new(1))?.and_time(NaiveTime::MIN);
    (tomorrow.and_utc() - now).to_std().ok()
}

fn sentence(start: &str, said: &str) -> String {
    let said = said.trim().trim_end_matches('.');
    if said.is_empty() { format!("{start}.") } else { format!("{start}: {said}.") }
}

/// Returns the error of a file that LinkedIn could not process.
pub(super) fn processing_failed(reason: &str) -> Error {
    Error::media_rejected(sentence("LinkedIn could not process a file", reason)).with_remedy(
        "Use another file: videos are MP4 of 3 seconds to 30 minutes and 75 KB to 500 MB.",
    )
}

/// Returns the URN of a post in a text.
fn urn_in(said: &str) -> Option<String> {
    ["urn:li:share:", "urn:li:ugcPost:"].iter().find_map(|kind| {
        let rest = &said[said.find(kind)? + kind.len()..];
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        (end > 0).then(|| format!("{kind}{}", &rest[..end]))
    })
}
