//! Failures of providers. They contain neither a prompt nor a provider's message about one.

use std::time::Duration;

use fanfare_outbound::{Error, Reply};
use serde_json::Value;

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The provider refuses the content.
    Refused,
    /// The provider is busy; retry later.
    Busy {
        /// The time to wait, if it was given.
        after: Option<Duration>,
    },
    /// The provider cannot have received the request.
    NotSent,
    /// The reply was lost; the provider may have acted on the request.
    Lost,
    /// The model does not exist any more.
    Retired,
    /// The reply cannot be read.
    BadAnswer,
    /// Our key or request is wrong, or the provider failed.
    Failed,
}

/// A failed call.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{sentence}")]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// The HTTP status, if there was a reply.
    pub status: Option<u16>,
    sentence: String,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, sentence: impl Into<String>) -> Self {
        Self { kind, status: None, sentence: sentence.into() }
    }

    pub(crate) fn bad_answer() -> Self {
        Self::new(FailureKind::BadAnswer, "The provider's answer cannot be read.")
    }

    pub(crate) fn refused() -> Self {
        Self::new(FailureKind::Refused, "The provider refuses the content.")
    }

    /// Returns the failure of an unsuccessful reply.
    pub(crate) fn of_reply(reply: &Reply) -> Self {
        let body: Value = reply.json().unwrap_or_default();
        let kind = kind(reply.status, &body, reply.retry_after());
        let sentence = format!("The provider answers with status {}.", reply.status);
        Self { kind, status: Some(reply.status), sentence }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let kind = if error.maybe_sent() { FailureKind::Lost } else { FailureKind::NotSent };
        // The message names the host at most.
        Self::new(kind, error.to_string())
    }
}

fn kind(status: u16, body: &Value, after: Option<Duration>) -> FailureKind {
    let said = body["error"]["message"].as_str().or_else(|| body["error"].as_str());
    let said = said.unwrap_or_default().to_lowercase();
    let code = body["code"].as_str().or_else(|| body["error"]["code"].as_str()).unwrap_or_default();
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    match status {
        400 | 403 | 422 if says(&["moderation", "policy", "safety"]) => FailureKind::Refused,
        404 if code == "model_unavailable" || says(&["no longer available"]) => {
            FailureKind::Retired
        }
        429 => FailureKind::Busy { after },
        503 => FailureKind::Busy { after },
        _ => FailureKind::Failed,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_failure_says_what_to_do_next() {
        let error = |message: &str| json!({"error": {"message": message}});
        for (status, body, wanted) in [
            (400, error("Rejected by content moderation"), FailureKind::Refused),
            (400, error("duration must be an integer"), FailureKind::Failed),
            (404, error("veo is no longer available"), FailureKind::Retired),
            (404, json!({"code": "model_unavailable", "error": "gone"}), FailureKind::Retired),
            (404, error("no such thing"), FailureKind::Failed),
            (429, json!({}), FailureKind::Busy { after: None }),
            (503, json!({}), FailureKind::Busy { after: None }),
            (401, json!({}), FailureKind::Failed),
            (500, json!({}), FailureKind::Failed),
        ] {
            assert_eq!(kind(status, &body, None), wanted, "{status} {body}");
        }
    }
}
