//! The body of an error reply.

use fanfare_entities::{PostId, post::PostStatus};
use fanfare_platforms::{NextAction, Violation};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Code, Retry};
use crate::clock::Time;

/// The body of an error reply, without the request's id and the address of the documentation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Refusal {
    /// The fault.
    #[serde(flatten)]
    pub reason: RefusalReason,
    /// The status of the resource.
    #[serde(flatten)]
    pub state: TransitionState,
}

/// The reason for an error reply.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RefusalReason {
    /// A sentence for people that says what is wrong.
    pub error: String,
    /// The error code.
    #[schemars(schema_with = "codes")]
    pub code: &'static str,
    /// True if the same request may succeed later.
    pub retryable: bool,
    /// What sending the same request again leads to.
    pub retry: Retry,
    /// Seconds until a retry makes sense; also in the header `Retry-After`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    /// The broken rules, at most 50 of them; with `targets_refused` at most 50 a target, and 1,000.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub validation_errors: Vec<Violation>,
    /// The number of broken rules beyond those that `validation_errors` names.
    #[serde(skip_serializing_if = "is_none")]
    pub more_violations: usize,
    /// Calls that help, most useful first; those for a single violation are in its entry.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextAction>,
    /// Fields that only this code has.
    #[serde(flatten)]
    pub details: RefusalDetails,
}

/// Further fields of `invalid_transition`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TransitionState {
    /// With `invalid_transition`: the status of the post, connect session or subscription.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<&'static str>,
    /// With `invalid_transition`: the statuses it can change to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<&'static [&'static str]>,
}

/// Further fields of other codes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RefusalDetails {
    /// The limit that was exceeded: of a window, a plan, or a size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// With `rate_limited`: the remaining requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining: Option<u64>,
    /// With `rate_limited`: the time at which the window starts anew, in Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset: Option<u64>,
    /// With `insufficient_scope`: the scope that the key lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_scope: Option<&'static str>,
    /// With `insufficient_workspace_permissions`: the lowest role that is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_role: Option<&'static str>,
    /// With `feature_not_available`: the lowest plan that is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_plan: Option<&'static str>,
    /// With `subscription_required`: `paused`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// With `plan_limit`: the workspace's plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<&'static str>,
    /// With `platform_not_configured`: the settings that the operator has to make.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_environment: Option<Vec<String>>,
    /// With `ambiguous_account`: the accounts that have the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_ids: Option<Vec<i64>>,
    /// With `post_type_unsupported`: the types that the platform has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supported: Option<Vec<String>>,
    /// With `media_in_use`: posts that use the file, at most ten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub posts: Option<Vec<i64>>,
    /// With `workspace_deletion_blocked`: what keeps the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blockers: Option<Vec<DeletionBlocker>>,
    /// With `pause_cooldown`: when the subscription may be paused again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_at: Option<Time>,
    /// With `insufficient_credits`: the credits that it costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<i64>,
    /// With `insufficient_credits`: the credits that the wallet has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available: Option<i64>,
    /// With `unavailable` of `/readyz`: what is not ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasons: Option<Vec<String>>,
    /// With `reply_window_closed`: the time at which the window closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_until: Option<Time>,
    /// With `action_not_allowed`: the actions that are possible now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub can: Option<Vec<InboxAction>>,
    /// With `reply_exists`: the review with the reply that it has, as lists of reviews show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub review: Option<Value>,
    /// With `targets_refused`: the number of targets that would be accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_targets: Option<usize>,
    /// With `targets_refused`: the number of broken rules beyond those that `validation_errors` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation_errors_omitted: Option<usize>,
    /// With `stale_version`: the present version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// With `duplicate_content`: posts of the account with the same content, or nearly; the newest first, at most ten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similar: Option<Vec<SimilarPost>>,
    /// With `duplicate_content` of a batch that was only checked: the item that it repeats, by its place in the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<usize>>,
    /// The remedy; of several violations, that of the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// A post of the same account with the same content, or nearly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SimilarPost {
    /// Its id.
    pub post_id: PostId,
    /// The likeness of the two.
    pub kind: Likeness,
    /// The time at which it goes out, or was to go out.
    pub scheduled_at: Time,
    /// Its status.
    pub status: PostStatus,
}

/// The likeness of two posts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Likeness {
    /// The same words, links and files.
    Exact,
    /// Nearly the same words, or the same with other files.
    Near,
}

/// A reason why a workspace cannot be deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeletionBlocker {
    /// The reason: `personal_workspace` or `live_subscription`.
    pub code: &'static str,
    /// The reason, as a sentence.
    pub message: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_none(count: &usize) -> bool {
    *count == 0
}

fn codes(_: &mut SchemaGenerator) -> Schema {
    let codes: Vec<_> = Code::ALL.iter().map(|code| code.entry().code).collect();
    json_schema!({"type": "string", "enum": codes})
}

/// An action that is possible with a conversation or a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InboxAction {
    /// Answer it.
    Reply,
    /// Hide it.
    Hide,
    /// Show it again.
    Unhide,
    /// Delete it.
    Delete,
    /// Answer it with a direct message.
    PrivateReply,
}
