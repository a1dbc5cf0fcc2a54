//! All limits of a caller, as one call shows them.

use fanfare_limits::TakeResult;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Bucket, LimitOwner, LimitState, of_caller, owner};
use crate::{Domain, Reply, access::Caller};

/// The buckets that the requests of one credential are counted in.
const OF_CREDENTIALS: [Bucket; 13] = [
    Bucket::Other,
    Bucket::Reads,
    Bucket::Posts,
    Bucket::Created,
    Bucket::Checks,
    Bucket::Media,
    Bucket::Captions,
    Bucket::Connect,
    Bucket::WebhookTests,
    Bucket::Subscription,
    Bucket::SupportChat,
    Bucket::Feedback,
    Bucket::AgentFeedback,
];

/// A limit, and how much of it is left to the caller.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RateLimit {
    /// Its name, as in the header `X-RateLimit-Resource`.
    resource: &'static str,
    /// What is counted, in words that follow the number.
    description: String,
    /// Whose requests count together.
    per: SharedBy,
    /// The requests that it allows in its window.
    limit: u64,
    /// The requests that are left of it.
    remaining: u64,
    /// The time at which its window starts anew, in Unix seconds.
    reset: u64,
    /// The length of its window, in seconds.
    window_seconds: u64,
}

/// Whose requests count together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SharedBy {
    /// Those with this key, or with all tokens of this tool.
    Key,
    /// Those of the person, with any key that is bound to no workspace.
    Person,
    /// Those with all keys that are bound to this workspace.
    Workspace,
    /// Those of the person in this workspace, with any tool.
    PersonInWorkspace,
}

/// The limits of the caller.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct RateLimits {
    rate_limits: Vec<RateLimit>,
}

/// Returns all limits that count for the caller. Nothing is counted.
pub async fn show(cx: &Domain, caller: &Caller) -> Reply<RateLimits> {
    let windows = OF_CREDENTIALS.map(|bucket| of_caller(cx, caller, bucket, 0));
    let TakeResult { counts, .. } = cx.limits.take(&owner(caller), &windows).await;
    let now = cx.clock.now();
    let shared_by = match (caller.key_workspace, &caller.token) {
        (None, _) => SharedBy::Person,
        (Some(_), None) => SharedBy::Workspace,
        (Some(_), Some(_)) => SharedBy::PersonInWorkspace,
    };
    let shown = OF_CREDENTIALS.iter().zip(counts).map(|(bucket, count)| {
        let (rule, state) = (bucket.rule(), LimitState::of(count, now));
        let what = rule.what.split(" per ").next().unwrap_or(rule.what);
        RateLimit {
            resource: rule.name,
            description: what.to_owned(),
            per: if rule.per == LimitOwner::Key { SharedBy::Key } else { shared_by },
            limit: state.limit,
            remaining: state.remaining,
            reset: state.reset,
            window_seconds: rule.span.as_secs(),
        }
    });
    Reply::ok(&RateLimits { rate_limits: shown.collect() })
}
