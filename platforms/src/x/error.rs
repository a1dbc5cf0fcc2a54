//! X's errors: `{"title", "detail", "type", "status", "errors": […]}`.

use fanfare_outbound::Reply;
use serde::Deserialize;

use super::LABEL;
use crate::{
    Error, ErrorKind, Session,
    response::{self, ResetHeader},
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Body {
    title: String,
    detail: String,
    #[serde(rename = "type")]
    kind: String,
    reason: String,
    errors: Vec<Entry>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    message: String,
    detail: String,
}

impl Body {
    fn full_message(&self) -> String {
        let entries = self.errors.iter().flat_map(|one| [&one.message, &one.detail]);
        let all = [&self.detail].into_iter().chain(entries).chain([&self.title]);
        all.filter(|text| !text.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// Returns the last part of the type's address, which names the problem.
    fn name(&self) -> Option<&str> {
        let name = self.kind.rsplit('/').next().filter(|name| !name.is_empty());
        name.filter(|name| *name != "about:blank").or(Some(self.title.as_str()))
    }
}

/// Converts a response that is not a success into an error.
pub(super) fn parse_error(session: &Session, reply: &Reply) -> Error {
    let body: Body = reply.json().unwrap_or_default();
    let said = session.secrets.redact(&body.full_message());
    let error = classify(session, reply, &body, &said.to_lowercase());
    error.with_reply(
        reply.status,
        body.name(),
        Some(&said).filter(|said| !said.is_empty()).map(String::as_str),
    )
}

fn classify(session: &Session, reply: &Reply, body: &Body, said: &str) -> Error {
    match reply.status {
        500.. => response::error_by_status(LABEL, reply, ""),
        _ if body.kind.ends_with("usage-capped") || reply.status == 402 => out_of_credits(),
        429 => rate_limited(session, reply),
        401 => expired(),
        _ if said.contains("unsupported authentication") => expired(),
        403 => forbidden(body, said),
        400 if said.contains("media") => Error::media_rejected("X does not take the media.")
            .with_remedy("Check type, size and length of the files; upload them again."),
        // The message names the parameter that was checked.
        400 if body.errors.iter().any(|one| !one.message.is_empty()) => {
            response::error_by_status(LABEL, reply, "").nothing_done()
        }
        _ => response::error_by_status(LABEL, reply, ""),
    }
}

fn expired() -> Error {
    Error::new(ErrorKind::TokenExpired, "The X access token is no longer accepted.")
}

fn out_of_credits() -> Error {
    Error::misconfigured("The credits or the monthly cap of the X app are used up.")
        .with_remedy("Ask the operator to add credits to the app at X, then retry the post.")
        .nothing_done()
}

fn forbidden(body: &Body, said: &str) -> Error {
    if said.contains("duplicate content") {
        return Error::duplicate(LABEL);
    }
    if said.contains("longer than 2 minutes") {
        return Error::media_rejected("X takes no video this long from this account.")
            .with_remedy("Shorten the video to 140 s, or subscribe the account to X Premium.");
    }
    if said.contains("text is too long") {
        return Error::rejected("The text is too long for this account on X.")
            .with_remedy("Shorten the text, or subscribe the account to X Premium.");
    }
    if said.contains("reply to this conversation") {
        return Error::rejected("X lets the account not reply to this post.")
            .with_remedy("Reply to posts whose author mentions or follows the account.");
    }
    if said.contains("suspended") || said.contains("locked") {
        return Error::restricted("X has suspended or locked this account.")
            .with_remedy("Log in to X with the account and follow what it asks for.");
    }
    if body.kind.contains("client-") || body.reason.contains("client") {
        return Error::misconfigured("The X app may not do this.")
            .with_remedy("Ask the operator to check the app's project and plan at X.");
    }
    if said.contains("url") {
        return Error::rejected("X does not take an address in the text.")
            .with_remedy("Remove the address or use another one.");
    }
    Error::permission_missing("X does not let the account do this.")
        .with_remedy("Connect the account again with all permissions; look at the account on X.")
}

/// Returns the error for a rate limit, with the wait of the limit that is exhausted.
fn rate_limited(session: &Session, reply: &Reply) -> Error {
    const DAILY: [(&str, &str); 2] = [
        ("x-user-limit-24hour-remaining", "x-user-limit-24hour-reset"),
        ("x-app-limit-24hour-remaining", "x-app-limit-24hour-reset"),
    ];
    let used_up = DAILY.iter().find(|(left, _)| reply.header(left) == Some("0"));
    if let Some((_, reset)) = used_up {
        let wait = response::retry_delay(session, reply, &[ResetHeader::Unix(reset)]);
        let message = "The account has used up what X lets it post in 24 hours.";
        return Error::new(ErrorKind::QuotaExhausted, message).with_retry_after(wait);
    }
    let wait = response::retry_delay(session, reply, &[ResetHeader::Unix("x-rate-limit-reset")]);
    Error::new(ErrorKind::RateLimited, "X asks to slow down.").with_retry_after(wait)
}
