//! Meta's error format, `{"error": {"message", "type", "code", "error_subcode", "error_user_msg", "is_transient"}}`,
//! and its meaning on all of Meta's networks.

use std::time::Duration;

use fanfare_outbound::Reply;
use serde::Deserialize;
use serde_json::Value;

use crate::{CallUsage, Draft, Error, ErrorKind, response};

/// The time to wait when Meta throttles without saying for how long.
const THROTTLED: Duration = Duration::from_secs(3_600);

#[derive(Deserialize, Default)]
#[serde(default)]
struct Body {
    error: ErrorDetails,
}

/// Meta's description of an error.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct ErrorDetails {
    message: Option<String>,
    /// The error code.
    pub code: Option<u64>,
    /// The error subcode.
    pub error_subcode: Option<u64>,
    error_user_msg: Option<String>,
    is_transient: bool,
}

impl ErrorDetails {
    /// Returns true if the message or the message for users contains `part` (in lower case), ignoring case.
    pub fn mentions(&self, part: &str) -> bool {
        let texts = [self.message.as_deref(), self.error_user_msg.as_deref()];
        texts.into_iter().flatten().any(|text| text.to_ascii_lowercase().contains(part))
    }

    /// Returns true if the code or subcode is one of these.
    pub fn has_code(&self, numbers: &[u64]) -> bool {
        let given = [self.code, self.error_subcode];
        given.into_iter().flatten().any(|number| numbers.contains(&number))
    }

    /// Returns code and subcode as one text.
    fn code_text(&self) -> Option<String> {
        let code = self.code?;
        Some(match self.error_subcode {
            Some(subcode) => format!("{code}/{subcode}"),
            None => code.to_string(),
        })
    }
}

/// Converts a response that is not a success into an error. `own` handles the errors of one network and comes first,
/// except for server errors.
pub fn classify_error(
    label: &str,
    reply: &Reply,
    own: fn(&Reply, &ErrorDetails) -> Option<Error>,
) -> Error {
    let words = serde_json::from_slice::<Body>(&reply.body).unwrap_or_default().error;
    let known = || own(reply, &words).or_else(|| common_error(label, reply, &words));
    let error = if reply.status >= 500 { None } else { known() };
    let error = error.unwrap_or_else(|| by_status(label, reply));
    let text = words.error_user_msg.as_deref().or(words.message.as_deref());
    error.with_reply(reply.status, words.code_text().as_deref(), text)
}

/// Converts the error codes that all of Meta's networks share,
/// <https://developers.facebook.com/docs/graph-api/guides/error-handling>.
fn common_error(label: &str, reply: &Reply, words: &ErrorDetails) -> Option<Error> {
    let code = words.code.unwrap_or(0);
    Some(match code {
        190 if words.error_subcode == Some(463) || words.mentions("expired") => {
            Error::new(ErrorKind::TokenExpired, format!("The {label} access token has expired."))
        }
        190 | 102 | 104 => token_refused(label),
        _ if words.mentions("session has been invalidated") => token_refused(label),
        10 | 200..=299 => {
            Error::permission_missing(format!("{label} misses a permission for this."))
                .with_remedy("Connect the account again and grant all permissions.")
        }
        // This limit is on the calls of the whole app; the others are on the account's.
        4 => rate_limited(label, reply).app_wide(),
        17 | 32 | 613 | 80_001 | 80_002 | 80_006 => rate_limited(label, reply),
        1 | 2 => Error::transient(format!("{label} could not do it for the moment.")),
        _ if words.is_transient => {
            Error::transient(format!("{label} could not do it for the moment."))
        }
        _ if words.mentions("could not be fetched") || words.mentions("media download") => {
            Error::media_rejected(format!("{label} could not fetch a media file."))
                .with_remedy("The file must be reachable from the internet without a login.")
        }
        _ => return None,
    })
}

/// The number of times a file is fetched again that Meta could not fetch, and the pause before. One item of six failed so,
/// once (<https://github.com/gitroomhq/postiz-app/pull/1900>).
pub const FETCHED_AGAIN_MAX: u32 = 2;
/// See [`FETCHED_AGAIN_MAX`].
pub const FETCH_PAUSE: Duration = Duration::from_secs(30);

/// Returns true if Meta could not fetch a file, which may have been for the moment.
pub fn is_fetch_failure(error: &Error) -> bool {
    let Some(reply) = &error.reply else { return false };
    let said = reply.message.as_deref().unwrap_or_default().to_ascii_lowercase();
    let code = reply.code.as_deref().unwrap_or_default();
    let is_code = |part: &str| matches!(part, "2207052" | "2207077");
    code.split('/').any(is_code)
        || said.split(|c: char| !c.is_ascii_digit()).any(is_code)
        || said.contains("could not be fetched")
        || said.contains("media download")
        || said.starts_with("failed_downloading")
}

/// Adds to an error about a file which of the draft's files it is.
pub fn naming_file(error: Error, label: &str, draft: &Draft, index: usize) -> Error {
    if !is_fetch_failure(&error) {
        return error;
    }
    let name = draft.media.get(index).map_or("", |file| file.filename.as_str());
    let message = format!("{label} could not fetch file {} of the post, {name}.", index + 1);
    Error { message, ..error }
}

fn token_refused(label: &str) -> Error {
    Error::reconnect(format!("{label} no longer accepts the account's access."))
}

/// Returns the error for an unknown code.
fn by_status(label: &str, reply: &Reply) -> Error {
    match reply.status {
        429 => rate_limited(label, reply),
        409 => Error::transient(format!("{label} is busy with another request of this account.")),
        _ => response::error_by_status(label, reply, ""),
    }
}

/// Returns the error for a limit on calls.
pub fn rate_limited(label: &str, reply: &Reply) -> Error {
    Error::new(ErrorKind::RateLimited, format!("{label} asks to slow down."))
        .with_retry_after(retry_after(reply))
}

/// Returns the error for a limit on posts.
pub fn quota_exhausted(label: &str, reply: &Reply) -> Error {
    let message = format!("The account has used up what {label} lets it post in 24 hours.");
    Error::new(ErrorKind::QuotaExhausted, message).with_retry_after(retry_after(reply))
}

/// Returns `Retry-After`, else the estimate in a usage header.
fn retry_after(reply: &Reply) -> Option<Duration> {
    let usage = || {
        let header =
            reply.header("x-business-use-case-usage").or_else(|| reply.header("x-app-usage"))?;
        let usage = serde_json::from_str(header).ok()?;
        match estimate(&usage)? {
            0 if is_used_up(&usage) => Some(THROTTLED),
            0 => None,
            minutes => Some(Duration::from_secs(minutes.saturating_mul(60))),
        }
    };
    reply.retry_after().or_else(usage)
}

/// Returns the longest `estimated_time_to_regain_access` anywhere in a usage header, in minutes.
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

/// Returns true if a usage header reports 100 percent.
fn is_used_up(usage: &Value) -> bool {
    share(usage) >= 100
}

/// Returns the highest usage in a usage header, in percent.
fn share(usage: &Value) -> u8 {
    const SHARES: [&str; 3] = ["call_count", "total_cputime", "total_time"];
    match usage {
        Value::Object(fields) => {
            let own = SHARES.iter().filter_map(|name| fields.get(*name)?.as_u64());
            let own = own.map(|percent| u8::try_from(percent).unwrap_or(u8::MAX)).max();
            own.into_iter().chain(fields.values().map(share)).max().unwrap_or(0)
        }
        Value::Array(items) => items.iter().map(share).max().unwrap_or(0),
        _ => 0,
    }
}

/// Returns the usage that the headers of a response report, if it has any
/// (<https://developers.facebook.com/docs/graph-api/overview/rate-limiting>).
pub fn call_usage(reply: &Reply) -> Option<CallUsage> {
    let read = |name: &str| serde_json::from_str::<Value>(reply.header(name)?).ok();
    let (app, account) = (read("x-app-usage"), read("x-business-use-case-usage"));
    if app.is_none() && account.is_none() {
        return None;
    }
    let regain = account.as_ref().and_then(estimate).filter(|minutes| *minutes > 0);
    Some(CallUsage {
        app: app.as_ref().map_or(0, share),
        account: account.as_ref().map_or(0, share),
        available_in: regain.map(|minutes| Duration::from_secs(minutes.saturating_mul(60))),
    })
}
