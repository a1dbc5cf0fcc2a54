//! Threads' errors: the envelope of Meta's Graph API,
//! `{"error": {"message", "type", "code", "error_subcode", "error_user_msg", "is_transient"}}`.

use std::time::Duration;

use fanfare_outbound::Reply;
use serde::Deserialize;
use serde_json::Value;

use crate::{Error, Kind, answer};

/// "Container not found yet": it was made a moment ago and publishing it was tried too early.
const TOO_EARLY: u64 = 4_279_009;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Body {
    error: Words,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Words {
    message: Option<String>,
    code: Option<u64>,
    error_subcode: Option<u64>,
    error_user_msg: Option<String>,
    is_transient: bool,
}

impl Words {
    fn says(&self, part: &str) -> bool {
        let texts = [self.message.as_deref(), self.error_user_msg.as_deref()];
        texts.into_iter().flatten().any(|text| text.to_ascii_lowercase().contains(part))
    }

    /// Code and subcode as one text, for the owner and for [`is_too_early`].
    fn code(&self) -> Option<String> {
        let code = self.code?;
        Some(match self.error_subcode {
            Some(subcode) => format!("{code}/{subcode}"),
            None => code.to_string(),
        })
    }
}

/// Was a container to be published before Threads could find it?
pub(super) fn is_too_early(error: &Error) -> bool {
    let code = error.reply.as_ref().and_then(|reply| reply.code.as_deref()).unwrap_or_default();
    let wanted = TOO_EARLY.to_string();
    code.split('/').any(|part| part == wanted)
}

/// Says what is to be done about a reply that is not a success.
pub(super) fn parse_error(reply: &Reply) -> Error {
    let body = serde_json::from_slice::<Body>(&reply.body).unwrap_or_default();
    let words = body.error;
    let text = words.error_user_msg.as_deref().or(words.message.as_deref());
    classify(reply, &words).with_reply(reply.status, words.code().as_deref(), text)
}

fn classify(reply: &Reply, words: &Words) -> Error {
    if reply.status >= 500 {
        return by_status(reply);
    }
    // The code alone can mislead: 4 is a rate limit, and 4 with this subcode a block for spam.
    match words.error_subcode.or(words.code).unwrap_or(0) {
        2_207_051 => return Error::rejected("Threads takes the post for spam."),
        4_279_013 => {
            return Error::misconfigured("Threads restricts this account.").with_remedy(
                "Open the Threads app with this account and follow what it asks for.",
            );
        }
        2_207_042 => return quota(reply),
        TOO_EARLY => return Error::transient("Threads does not find the prepared post yet."),
        _ => {}
    }
    match words.code.unwrap_or(0) {
        190 if words.error_subcode == Some(463) || words.says("expired") => {
            Error::new(Kind::TokenExpired, "The Threads access token has expired.")
        }
        190 | 102 | 104 => Error::reconnect("Threads no longer accepts the account's access."),
        10 | 200..=299 => Error::misconfigured("Threads misses a permission for this.")
            .with_remedy("Connect the account again and grant all permissions."),
        // Calls of the whole app; the others are of the account.
        4 => slow_down(reply).of_app(),
        17 | 32 | 613 | 80_001 | 80_002 | 80_006 => slow_down(reply),
        9 => quota(reply),
        1 | 2 => Error::transient("Threads could not do it for the moment."),
        _ if words.is_transient => Error::transient("Threads could not do it for the moment."),
        _ if words.says("could not be fetched") || words.says("media download") => {
            Error::media_rejected("Threads could not fetch a media file.")
                .with_remedy("The file must be reachable from the internet without a login.")
        }
        _ if words.says("link_limit_exceeded") => {
            Error::rejected("The post has too many links for Threads.")
        }
        _ => by_status(reply),
    }
}

/// No code that is known.
fn by_status(reply: &Reply) -> Error {
    match reply.status {
        429 => slow_down(reply),
        409 => Error::transient("Threads is busy with another request of this account."),
        _ => answer::by_status("Threads", reply, ""),
    }
}

fn slow_down(reply: &Reply) -> Error {
    Error::new(Kind::RateLimited, "Threads asks to slow down.").with_retry_after(retry_after(reply))
}

fn quota(reply: &Reply) -> Error {
    Error::new(
        Kind::QuotaExhausted,
        "The account has used up what Threads lets it post in 24 hours.",
    )
    .with_retry_after(retry_after(reply))
}

/// `Retry-After`, else the estimate in a usage header.
fn retry_after(reply: &Reply) -> Option<Duration> {
    let usage = || {
        let header =
            reply.header("x-business-use-case-usage").or_else(|| reply.header("x-app-usage"))?;
        let minutes = estimate(&serde_json::from_str(header).ok()?)?;
        (minutes > 0).then(|| Duration::from_secs(minutes.saturating_mul(60)))
    };
    reply.retry_after().or_else(usage)
}

/// Longest `estimated_time_to_regain_access` anywhere in a usage header, in minutes.
fn estimate(usage: &Value) -> Option<u64> {
    match usage {
        Value::Object(fields) => {
            let own = fields.get("estimated_time_to_regain_access").and_then(Value::as_u64);
            own.into_iter().chain(fields.values().filter_map(estimate)).max()
        }
        Value::Array(items) => items.iter().filter_map(estimate).max(),
        _ => None,
    }
}

/// What became of a container that Threads could not process; `reason` is one of its codes or a sentence.
pub(super) fn broken(reason: &str) -> Error {
    let about_media = ["FAILED_DOWNLOADING", "FAILED_PROCESSING", "INVALID_"];
    let error = if about_media.iter().any(|start| reason.starts_with(start)) || fetch_failed(reason)
    {
        Error::media_rejected("Threads could not process a media file.")
    } else if reason == "EXPIRED" {
        Error::transient("The prepared post expired before it was published.")
    } else {
        Error::rejected("Threads could not process the post.")
    };
    error.with_reply(200, None, Some(reason))
}

fn fetch_failed(reason: &str) -> bool {
    reason.to_ascii_lowercase().contains("could not be fetched")
}
