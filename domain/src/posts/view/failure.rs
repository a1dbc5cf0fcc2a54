//! The reason why a post failed, and the next steps.

use fanfare_entities::{AccountId, PostId};
use fanfare_platforms::NextAction;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::remedies::{AccountRef, RequestContext, after_post_failure};

/// The reason why an attempt to publish a post failed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PostError {
    /// The kind of failure.
    pub code: PostErrorCode,
    /// A sentence for people about what happened.
    pub message: String,
    /// True if the post may be sent again.
    pub retryable: bool,
    /// False if it may be public already.
    pub retry_safe: bool,
    /// The next step.
    pub remedy: Option<String>,
    /// The platform's own words, cut and without secrets.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub platform_error: Option<Value>,
}

/// The kinds of failures of a [`PostError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are those of the documents")]
pub enum PostErrorCode {
    AccountDisconnected,
    TokenExpired,
    ContentRejected,
    MediaRejected,
    PlatformRateLimited,
    QuotaExhausted,
    PlatformUnavailable,
    Misconfigured,
    OutcomeUnknown,
    Missed,
    InternalError,
}

/// The codes of failed posts that no error of a request has, each with its cause.
pub const POST_ERRORS: [(&str, &str); 10] = [
    ("account_disconnected", "The platform no longer accepts the account's credentials."),
    ("token_expired", "The account's token has ended and could not be renewed."),
    ("content_rejected", "The platform refused what the post says."),
    ("media_rejected", "The platform refused a file of the post."),
    ("platform_rate_limited", "The platform asked to wait for longer than the post could."),
    (
        "quota_exhausted",
        "The account's posts of the day were used up for longer than the post could wait.",
    ),
    ("platform_unavailable", "The platform did not answer, or answered with an error of its own."),
    ("misconfigured", "A setting of the service, or of its app on the platform, is wrong."),
    (
        "outcome_unknown",
        "The platform's answer was lost, and whether the post is public could not be found out.",
    ),
    ("missed", "The post could not go out within the allowed time after its own."),
];

/// The reason why a post failed, and the next steps.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes JSON that is put together")]
pub(super) struct FailedPost {
    #[serde(flatten)]
    error: PostError,
    /// The calls to make next, most useful first.
    next: Vec<NextAction>,
    /// The page that explains the code, as a path below the service's origin.
    doc_url: String,
}

/// Adds the next steps to the error of a row.
pub(super) fn with_next_steps(
    mut error: Value,
    id: PostId,
    account: AccountId,
    platform: &str,
) -> Value {
    let Some(fields) = error.as_object_mut() else { return error };
    let code = fields.get("code").and_then(Value::as_str).unwrap_or_default().to_owned();
    let situation = RequestContext {
        account: Some(AccountRef { id: account, platform: platform.to_owned(), sandbox: false }),
        post: Some(id),
        request: Some(("retry_post", "POST", format!("/api/v1/posts/{id}/retry"))),
        ..RequestContext::default()
    };
    let next: Vec<_> =
        after_post_failure(&code).iter().filter_map(|lead| lead.call(&situation)).collect();
    fields.insert("next".to_owned(), json!(next));
    fields.insert("doc_url".to_owned(), format!("/docs/errors#{code}").into());
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_post_leads_on() {
        let shown = |code: &str| {
            with_next_steps(json!({"code": code}), PostId(9), AccountId(7), "bluesky")["next"]
                .clone()
        };
        assert_eq!(shown("missed")[0]["path"], "/api/v1/posts/9/retry");
        assert_eq!(shown("account_disconnected")[0]["path"], "/api/v1/connect/bluesky");
        let unknown = shown("outcome_unknown");
        assert_eq!(unknown[0]["operation"], "list_attempts");
        assert_eq!(unknown[1]["body"], json!({"acknowledge_duplicate_risk": true}));
        for (code, _) in POST_ERRORS {
            assert_ne!(shown(code), json!([]), "{code}");
        }
    }
}
