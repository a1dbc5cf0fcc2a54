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

/// The codes with which providers say that the content is to blame, whatever the status: of OpenAI and those that speak
/// like it, and of Google's operations.
const REFUSED_CODES: [&str; 5] = [
    "content_policy_violation",
    "moderation_blocked",
    "content_filter",
    "content_blocked",
    "invalid_prompt",
];

/// The words that xAI writes into a refusal by one of its checks, under the code of a missing permission.
const REFUSED_CHECK: &str = "safety_check_type";

/// Sentences of providers that have no code for this: xAI, OpenAI, Google. A single word such as "policy" proves nothing,
/// because a barred key breaks a policy too.
const REFUSED_WORDS: [&str; 7] = [
    "content moderation",
    "rejected by moderation",
    "usage guidelines",
    "content policy",
    "safety system",
    "safety filters",
    "responsible ai practices",
];

fn kind(status: u16, body: &Value, after: Option<Duration>) -> FailureKind {
    let error = &body["error"];
    let said = error["message"].as_str().or_else(|| error.as_str()).unwrap_or_default();
    let said = said.to_lowercase();
    let code = error["code"].as_str().or_else(|| body["code"].as_str()).unwrap_or_default();
    let is_refused = REFUSED_CODES.contains(&code) || said.contains(REFUSED_CHECK);
    let is_worded = REFUSED_WORDS.iter().any(|words| said.contains(words));
    match status {
        400 | 403 | 422 if is_refused => FailureKind::Refused,
        // With 403 such words are about the key or the project.
        400 | 422 if is_worded => FailureKind::Refused,
        404 if code == "model_unavailable" || said.contains("no longer available") => {
            FailureKind::Retired
        }
        429 | 503 => FailureKind::Busy { after },
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

    #[test]
    fn the_content_is_to_blame_where_the_provider_says_so_and_nowhere_else() {
        let google = |status: &str, message: &str| json!({"error": {"code": 400, "status": status, "message": message}});
        let openai = |code: &str, message: &str| json!({"error": {"code": code, "message": message, "type": "invalid_request_error"}});
        let xai = |code: &str, message: &str| json!({"code": code, "error": message});
        let denied = "The caller does not have permission to execute the specified operation";
        let check = "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_CSAM";
        let sensitive = "This prompt violates Google's Responsible AI practices.";
        for (status, body, is_refused) in [
            (400, openai("content_policy_violation", "Your request was rejected."), true),
            (403, openai("moderation_blocked", "No."), true),
            (422, openai("content_filter", "No."), true),
            (400, openai("invalid_value", "size breaks a policy of the model"), false),
            (
                400,
                xai("Client specified an invalid argument", "Rejected by content moderation."),
                true,
            ),
            (403, xai(denied, check), true),
            (
                403,
                xai(denied, "Your API key is blocked for a violation of our safety policy."),
                false,
            ),
            (403, xai(denied, "Your team broke the usage guidelines and is barred."), false),
            (400, google("INVALID_ARGUMENT", sensitive), true),
            (400, google("INVALID_ARGUMENT", "safetySettings: unknown category"), false),
            (
                400,
                google("FAILED_PRECONDITION", "User location is not supported by policy."),
                false,
            ),
            (
                403,
                google("PERMISSION_DENIED", "The project is suspended for a policy violation."),
                false,
            ),
            (401, openai("invalid_api_key", "safety policy"), false),
        ] {
            let found = kind(status, &body, None) == FailureKind::Refused;
            assert_eq!(found, is_refused, "{status} {body}");
            // A provider that fails says nothing about the content, whatever its words.
            for status in [500, 502, 503, 504] {
                assert_ne!(kind(status, &body, None), FailureKind::Refused, "{status} {body}");
            }
        }
    }
}
