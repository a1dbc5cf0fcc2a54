//! Discord's errors: `{"code", "message", "errors"}`.

use std::time::Duration;

use fanfare_outbound::Reply;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    Error, ErrorKind, Session,
    response::{self, ResetHeader},
};

#[derive(Deserialize, Default)]
#[serde(default)]
struct Body {
    code: Option<u64>,
    message: Option<String>,
    /// For an invalid form: which field is wrong, as a tree with `_errors` at its leaves.
    errors: Value,
    /// Seconds.
    retry_after: Option<f64>,
}

/// The time for which nothing is sent after the service's address was blocked: blocks last up to an hour, and grow with
/// what is sent meanwhile.
const BLOCKED: Duration = Duration::from_secs(15 * 60);

/// The code of a message that is not there.
pub(super) const UNKNOWN_MESSAGE: u64 = 10_008;

/// Converts a response that is not a success into an error. Codes:
/// <https://discord.com/developers/docs/topics/opcodes-and-status-codes#json>.
pub(super) fn parse_error(session: &Session, reply: &Reply) -> Error {
    let body = serde_json::from_slice::<Body>(&reply.body).unwrap_or_default();
    let words = full_message(&body);
    let code = body.code.map(|code| code.to_string());
    classify(session, reply, &body).with_reply(reply.status, code.as_deref(), words.as_deref())
}

fn classify(session: &Session, reply: &Reply, body: &Body) -> Error {
    match (reply.status, body.code.unwrap_or(0)) {
        (429, 0) if is_block(session, reply, body) => {
            Error::new(ErrorKind::RateLimited, "Discord blocks this server's address for a while.")
                .with_retry_after(Some(BLOCKED))
                .app_wide()
        }
        (429, _) => {
            Error::new(ErrorKind::RateLimited, "Discord asks to slow down on this webhook.")
                .with_retry_after(retry_after(session, reply, body))
        }
        (408 | 500.., _) => response::error_by_status("Discord", reply, ""),
        (_, 40_005) | (413, _) => {
            Error::media_rejected("A file is too large for this Discord server.")
                .with_remedy("Use files of at most 10 MiB, or have the server boosted.")
        }
        (_, 20_009) => Error::media_rejected("Discord takes a file for explicit content."),
        (_, 10_003 | 50_083 | 160_005) => {
            Error::rejected("The thread does not exist, or is archived or locked.")
                .with_remedy("Correct settings.thread_id, or open the thread again.")
        }
        (_, UNKNOWN_MESSAGE) => Error::rejected("Discord does not have the message."),
        (401, _) | (_, 10_015 | 50_027) | (404, _) => {
            Error::reconnect("The Discord webhook no longer exists.")
                .with_remedy("Make a new webhook in the channel's settings and connect it.")
        }
        (_, 220_001) => Error::rejected("The webhook belongs to a forum channel.")
            .with_remedy("Set settings.thread_name or settings.thread_id."),
        (_, 220_003) => Error::rejected("Only forum channels let a webhook open a thread.")
            .with_remedy("Leave out settings.thread_name."),
        (_, 50_006) => Error::rejected("Discord refuses an empty message."),
        (_, 200_000 | 200_001 | 240_000) => {
            Error::rejected("A filter of the Discord server blocks the message.")
        }
        (_, 50_001 | 50_013) => {
            Error::permission_missing("The Discord webhook is not allowed to post here.")
                .nothing_done()
        }
        // Not a refusal of this message: the service is overloaded, or did not answer its own front.
        (_, 130_000 | 40_333) => response::error_by_status("Discord", reply, "").left_open(),
        (_, 50_045 | 50_046 | 50_081) => Error::media_rejected("Discord does not take a file."),
        (_, code) if names_its_cause(code) => Error::rejected("Discord refuses the message."),
        (403, _) => Error::permission_missing("The Discord webhook is not allowed to post here."),
        (300..=399, _) => Error::target_gone("Discord answered with a redirect."),
        _ => Error::rejected("Discord refuses the message.").left_open(),
    }
}

/// Returns true if it is not the webhook that has sent too much, but the address of the service: the answer names no time,
/// with a general code or the page of an edge server
/// (<https://github.com/discord/discord-api-docs/issues/5810>, <https://github.com/discord/discord-api-docs/issues/7040>).
fn is_block(session: &Session, reply: &Reply, body: &Body) -> bool {
    retry_after(session, reply, body).is_none()
}

/// Returns true for the codes of what the message names, holds or lacks, or of a limit of the server, which are checked
/// before a message is made of the form. 0 is a general error.
const fn names_its_cause(code: u64) -> bool {
    matches!(
        code,
        10_000..=10_999
            | 20_000..=20_999
            | 30_000..=30_999
            | 40_000..=40_999
            | 50_000..=50_999
            | 160_000..=160_999
            | 180_000..=180_999
            | 200_000..=200_999
            | 220_000..=220_999
            | 240_000..=240_999
            | 520_000..=520_999
    )
}

/// Returns how long to wait. The field in the body is the most exact; the reset header counts the seconds until the
/// bucket is full again.
fn retry_after(session: &Session, reply: &Reply, body: &Body) -> Option<Duration> {
    let exact = body.retry_after.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    exact.or_else(|| {
        response::retry_delay(session, reply, &[ResetHeader::Seconds("x-ratelimit-reset-after")])
    })
}

/// Returns Discord's message, with the first reason in the tree of field errors.
fn full_message(body: &Body) -> Option<String> {
    let message = body.message.clone()?;
    Some(match first_reason(&body.errors, "") {
        Some(reason) => format!("{message}: {reason}"),
        None => message,
    })
}

fn first_reason(tree: &Value, path: &str) -> Option<String> {
    let fields = tree.as_object()?;
    if let Some(reason) = fields.get("_errors").and_then(|list| list[0]["message"].as_str()) {
        return Some(if path.is_empty() { reason.to_owned() } else { format!("{path}: {reason}") });
    }
    fields.iter().find_map(|(name, below)| {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        first_reason(below, &path)
    })
}
