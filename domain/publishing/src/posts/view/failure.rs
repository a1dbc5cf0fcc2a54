//! The reason why a post failed, and the next steps.

use fanfare_core::{
    error::Retry,
    remedies::{AccountRef, RequestContext, WHILE_WAITING, after_post_failure},
};
use fanfare_entities::{Millis, post, post::PostStatus};
use fanfare_platforms::{NextAction, Violation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::super::restore_hold;
use super::{Reader, failures::post_failure};
use crate::platforms;

/// The reason why an attempt to publish a post failed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PostError {
    /// The kind of failure.
    pub code: PostErrorCode,
    /// A sentence for people about what happened.
    pub message: String,
    /// True if the same post may succeed later, without a change.
    pub retryable: bool,
    /// What sending the post again leads to. Errors of attempts from before it was known lack it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// False if it may be public already.
    pub retry_safe: bool,
    /// The next step.
    pub remedy: Option<String>,
    /// The platform's own words, cut and without secrets.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub platform_error: Option<Value>,
    /// The rule that a file turned out to break when it was looked at, as a refusal would name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation: Option<Violation>,
}

/// The kinds of failures of a [`PostError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are those of the documents")]
pub enum PostErrorCode {
    AccountDisconnected,
    TokenExpired,
    PlatformPermissionMissing,
    AccountRestricted,
    TargetNotFound,
    ContentRejected,
    DuplicateContent,
    MediaRejected,
    PlatformRateLimited,
    QuotaExhausted,
    PlatformUnavailable,
    Misconfigured,
    OutcomeUnknown,
    Missed,
    InternalError,
}

/// The reason why a post failed, and the next steps.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes JSON that is put together")]
pub(in crate::posts) struct FailedPost {
    #[serde(flatten)]
    error: PostError,
    /// The calls that help in the post's present state, most useful first.
    next: Vec<NextAction>,
    /// Address of the page that explains the code.
    #[schemars(extend("format" = "uri"))]
    doc_url: String,
}

/// What an error means for a post in its present state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// The answer of the platform was lost, and the platform is asked what became of the post.
    Asking,
    /// The post is going out, or the platform is working on it: what failed before is over.
    UnderWay,
    /// The post is tried again by itself.
    Waiting,
    /// Nothing happens by itself any more.
    Ended,
}

impl Standing {
    /// Returns the standing of a row.
    pub(super) fn of(row: &post::Model) -> Self {
        let is_open = matches!(row.status, PostStatus::Publishing | PostStatus::Processing);
        match row.status {
            _ if is_open && row.sending_at.is_some() => Self::Asking,
            _ if is_open && row.next_attempt_at.is_none() => Self::UnderWay,
            PostStatus::Scheduled | PostStatus::Publishing | PostStatus::Processing => {
                Self::Waiting
            }
            _ => Self::Ended,
        }
    }
}

/// Returns the time at which a post is looked at next: tried again, or asked about.
pub(super) fn next_look(row: &post::Model) -> Option<Millis> {
    let is_asked_about = row.error.is_some() && Standing::of(row) == Standing::Asking;
    let is_processed = row.status == PostStatus::Processing && row.sending_at.is_none();
    row.next_attempt_at.or(row.due_at.filter(|_| is_asked_about || is_processed))
}

/// Returns the error of a row as it stands now, with the calls that the reader can make in this state.
pub(in crate::posts) fn shown(row: &post::Model, reader: &Reader) -> Option<Value> {
    let mut error = row.error.clone()?;
    let Some(fields) = error.as_object_mut() else { return Some(error) };
    let standing = Standing::of(row);
    if standing == Standing::UnderWay {
        return None;
    }
    fields.remove(restore_hold::ASKED);
    if let Some(failure) = fields.get("code").and_then(Value::as_str).and_then(post_failure) {
        fields.insert("retry".to_owned(), json!(failure.retry));
    }
    describe(fields, standing, row);
    let code = fields.get("code").and_then(Value::as_str).unwrap_or_default().to_owned();
    let situation = RequestContext {
        base_url: reader.base_url.clone(),
        rights: reader.rights.clone(),
        account: Some(AccountRef {
            id: row.account_id,
            platform: row.platform.clone(),
            sandbox: false,
        }),
        post: Some(row.id),
        request: Some(("retry_post", "POST", format!("/api/v1/posts/{}/retry", row.id))),
        ..RequestContext::default()
    };
    let steps = match standing {
        Standing::Asking | Standing::Waiting => WHILE_WAITING,
        Standing::Ended if row.status == PostStatus::Failed => after_post_failure(&code),
        Standing::Ended | Standing::UnderWay => &[],
    };
    // What is partly public stays as it is.
    let steps = steps.iter().filter(|step| !(row.partly_public && step.changes_the_post()));
    let next: Vec<_> = steps.filter_map(|step| step.call(&situation)).collect();
    fields.insert("next".to_owned(), json!(next));
    fields.insert("doc_url".to_owned(), format!("{}/docs/errors#{code}", reader.base_url).into());
    Some(error)
}

/// Returns why the network is asked what became of a post.
pub(in crate::posts) fn cause_of_question(row: &post::Model) -> String {
    if restore_hold::is_asked_after_restore(row) {
        return "The service was restored from a backup that does not know whether this post was sent.".to_owned();
    }
    format!("The answer of {} was lost.", platforms::label(&row.platform))
}

/// Says what happens by itself, in place of a remedy that the post's state does not allow.
fn describe(fields: &mut Map<String, Value>, standing: Standing, row: &post::Model) {
    let remedy = match standing {
        Standing::Ended | Standing::UnderWay => return,
        Standing::Waiting => {
            fields.insert("retry".to_owned(), json!(Retry::After));
            "No action needed: the post is tried again at next_attempt_at."
        }
        Standing::Asking => {
            let name = platforms::label(&row.platform);
            let cause = cause_of_question(row);
            let message = format!("{cause} We are asking {name} whether the post was published.");
            fields.insert("message".to_owned(), message.into());
            fields.insert("retryable".to_owned(), false.into());
            fields.insert("retry_safe".to_owned(), false.into());
            fields.insert("retry".to_owned(), json!(Retry::Unsafe));
            "No action needed: the answer is looked for at next_attempt_at. Do not publish the post again."
        }
    };
    fields.insert("remedy".to_owned(), remedy.into());
}

#[cfg(test)]
pub(in crate::posts) mod tests {
    use fanfare_entities::{AccountId, PostId, UserId, WorkspaceId};
    use uuid::Uuid;

    use super::{super::failures::POST_FAILURES, *};

    /// A post that failed with this code.
    pub fn failed(code: &str) -> post::Model {
        let error = json!({"code": code, "message": "m", "retryable": true, "retry_safe": true, "remedy": "Retry the post later."});
        post::Model {
            id: PostId(9),
            workspace_id: WorkspaceId::fresh(),
            account_id: AccountId(7),
            brand_id: None,
            platform: "bluesky".to_owned(),
            created_by: UserId::fresh(),
            request_id: String::new(),
            caption: String::new(),
            post_type: "feed".to_owned(),
            requested_post_type: None,
            settings: json!({}),
            metadata: json!({}),
            media: json!([]),
            status: PostStatus::Failed,
            scheduled_at: Some(1),
            timezone: None,
            group_key: None,
            release_id: None,
            content_key: Uuid::nil(),
            due_at: None,
            fencing_token: 0,
            attempts: 1,
            lease_expirations: 0,
            out_of_line: false,
            behind: false,
            state: None,
            partly_public: false,
            attempt: 1,
            steps: None,
            sending_at: None,
            sending_until: None,
            reconciling_at: None,
            absent_at: None,
            announced_fence: None,
            public_at: None,
            removed_at: None,
            platform_post_id: None,
            platform_post_url: None,
            parts: None,
            warnings: None,
            error: Some(error),
            next_attempt_at: None,
            duplicate_risk: false,
            post_set_id: None,
            version: 1,
            created_at: 1,
            updated_at: 1,
        }
    }

    #[test]
    fn a_failed_post_leads_on() {
        let next = |code: &str| {
            shown(&failed(code), &Reader::anybody("https://f.example")).unwrap()["next"].clone()
        };
        assert_eq!(next("missed")[0]["path"], "/api/v1/posts/9/retry");
        assert_eq!(next("account_disconnected")[0]["path"], "/api/v1/connect/bluesky");
        let unknown = next("outcome_unknown");
        assert_eq!(unknown[0]["operation"], "list_attempts");
        assert_eq!(unknown[1]["body"], json!({"acknowledge_duplicate_risk": true}));
        for code in POST_FAILURES.iter().map(|failure| failure.name) {
            assert_ne!(next(code), json!([]), "{code}");
        }
    }

    #[test]
    fn a_post_that_is_not_failed_is_never_to_be_retried() {
        for code in POST_FAILURES.iter().map(|failure| failure.name) {
            for (status, sending_at) in [
                (PostStatus::Scheduled, None),
                (PostStatus::Publishing, None),
                (PostStatus::Publishing, Some(1)),
                (PostStatus::Processing, None),
                (PostStatus::Processing, Some(1)),
            ] {
                let next_attempt_at = sending_at.is_none().then_some(5);
                let row = post::Model {
                    status,
                    sending_at,
                    next_attempt_at,
                    due_at: Some(5),
                    ..failed(code)
                };
                let error = shown(&row, &Reader::anybody("https://f.example")).unwrap();
                let next = error["next"].as_array().unwrap();
                assert!(next.iter().all(|call| call["method"] == "GET"), "{error}");
                assert_eq!(next[0]["path"], "/api/v1/posts/9?wait=25");
                assert!(error["remedy"].as_str().unwrap().starts_with("No action needed"));
                let is_asked = sending_at.is_some();
                assert_eq!(error["retry_safe"] == false, is_asked, "{error}");
                assert_eq!(error["retryable"] == false, is_asked, "{error}");
                assert_eq!(next_look(&row), Some(5), "{error}");
            }
        }
    }

    #[test]
    fn what_failed_before_is_over_once_the_platform_works_on_the_post() {
        for status in [PostStatus::Publishing, PostStatus::Processing] {
            let row = post::Model { status, due_at: Some(5), ..failed("platform_unavailable") };
            assert_eq!(shown(&row, &Reader::anybody("")), None);
        }
    }

    #[test]
    fn what_is_partly_public_is_not_changed() {
        let operations = |partly_public| {
            let row = post::Model { partly_public, ..failed("content_rejected") };
            let error = shown(&row, &Reader::anybody("")).unwrap();
            let next = error["next"].as_array().unwrap().clone();
            next.into_iter().map(|call| call["operation"].clone()).collect::<Vec<_>>()
        };
        assert!(operations(false).contains(&json!("update_post")));
        assert!(!operations(true).contains(&json!("update_post")));
        assert!(operations(true).contains(&json!("retry_post")));
    }
}
