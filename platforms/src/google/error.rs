//! Google's error format, `{"error": {"code", "message", "status", "errors": [{"reason"}], "details": [{"reason"}]}}`:
//! older APIs give a reason in `errors`, newer ones a status and `details`.

use std::time::Duration;

use fanfare_outbound::Reply;
use serde::Deserialize;
use serde_json::Value;

use crate::{Error, ErrorKind, Session, response};

/// The time to wait when throttled: Google never says.
pub const DEFAULT_WAIT: Duration = Duration::from_secs(60);

#[derive(Deserialize, Default)]
#[serde(default)]
struct Body {
    error: ErrorDetails,
}

/// Google's description of an error.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct ErrorDetails {
    /// The message for people. May repeat input.
    pub message: String,
    /// The status code of newer APIs, such as `PERMISSION_DENIED`.
    pub status: String,
    errors: Vec<Reason>,
    details: Vec<Value>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Reason {
    reason: String,
}

impl ErrorDetails {
    /// Returns the reason, of older or newer APIs; empty if there is none.
    pub fn reason(&self) -> &str {
        let older = self.errors.iter().map(|one| one.reason.as_str());
        let newer = self.details.iter().filter_map(|one| one["reason"].as_str());
        older.chain(newer).find(|reason| !reason.is_empty()).unwrap_or_default()
    }

    /// Returns an entry of the metadata, such as the size of a quota.
    pub fn metadata(&self, name: &str) -> Option<&str> {
        self.details.iter().find_map(|one| one["metadata"][name].as_str())
    }

    /// Returns the messages about single fields, of either kind of detail.
    pub fn field_messages(&self) -> Vec<&str> {
        let lists = [("fieldViolations", "description"), ("errorDetails", "message")];
        let listed = |(list, text): (&str, &'static str)| {
            let items = self.details.iter().filter_map(move |one| one.get(list)?.as_array());
            items.flatten().filter_map(move |one| one[text].as_str()).collect::<Vec<_>>()
        };
        lists.into_iter().flat_map(listed).filter(|text| !text.is_empty()).collect()
    }

    /// Returns true if the message or the details contain `part` (in lower case), ignoring case.
    pub fn mentions(&self, part: &str) -> bool {
        let details = Value::Array(self.details.clone()).to_string().to_ascii_lowercase();
        self.message.to_ascii_lowercase().contains(part) || details.contains(part)
    }
}

/// Converts a response that is not a success into an error. `own` handles the errors of one network and comes first.
pub fn classify_error(
    label: &str,
    session: &Session,
    reply: &Reply,
    own: fn(&Session, &ErrorDetails) -> Option<Error>,
) -> Error {
    let words = serde_json::from_slice::<Body>(&reply.body).unwrap_or_default().error;
    let said = session.secrets.redact(&words.message);
    let known = || own(session, &words).or_else(|| common_error(label, reply, &words));
    let error = if reply.status >= 500 { None } else { known() };
    let error = error.unwrap_or_else(|| response::error_by_status(label, reply, &said));
    let code = Some(words.reason()).filter(|reason| !reason.is_empty());
    let code = code.or(Some(words.status.as_str()).filter(|status| !status.is_empty()));
    error.with_reply(reply.status, code, Some(&said))
}

/// Converts the errors that all of Google's networks share, <https://cloud.google.com/apis/design/errors>
fn common_error(label: &str, reply: &Reply, words: &ErrorDetails) -> Option<Error> {
    Some(match words.reason() {
        "authError" | "authorizationRequired" => expired(label),
        "rateLimitExceeded" | "userRateLimitExceeded" => rate_limited(label, reply),
        "insufficientPermissions" | "ACCESS_TOKEN_SCOPE_INSUFFICIENT" => {
            Error::reconnect("The account lacks a permission.")
                .with_remedy("Connect the account again with all permissions.")
        }
        "accessNotConfigured" | "SERVICE_DISABLED" => api_disabled(label),
        _ if words.status == "UNAUTHENTICATED" || reply.status == 401 => expired(label),
        _ if words.status == "RESOURCE_EXHAUSTED" || reply.status == 429 => {
            rate_limited(label, reply)
        }
        _ if words.status == "ABORTED" => {
            Error::transient(format!("{label} is busy with another request of this account."))
        }
        _ => return None,
    })
}

/// Returns the error of a token that has expired or was revoked: a refresh shows which.
fn expired(label: &str) -> Error {
    Error::new(ErrorKind::TokenExpired, format!("{label} does not accept the access token."))
}

/// Returns the error for a limit on calls.
fn rate_limited(label: &str, reply: &Reply) -> Error {
    Error::new(ErrorKind::RateLimited, format!("{label} asks to slow down."))
        .with_retry_after(reply.retry_after().or(Some(DEFAULT_WAIT)))
}

fn api_disabled(label: &str) -> Error {
    Error::misconfigured(format!("The API of {label} is not switched on for this service's app."))
        .with_remedy("Ask the operator to switch the API on in the Google Cloud console.")
}
