//! Code shared by Meta's networks: error responses, field selection, posts in two calls, and the login by which a user
//! authorizes an app for pages.
//!
//! <https://developers.facebook.com/docs/graph-api>

pub(crate) mod access;
pub(crate) mod containers;
pub(crate) mod crawl;
pub(crate) mod failure;
pub(crate) mod fields;
pub(crate) mod inbox;
pub(crate) mod insights;
pub(crate) mod lists;
pub(crate) mod login;
pub(crate) mod person;

use serde_json::{Value, json};

use crate::env::utc;
use crate::network::{Identity, Network};
use crate::reply::Reply;
use crate::sim::Account;

/// A network whose accounts belong to the pages of a user.
pub(crate) trait Graph: Network {
    /// Returns the tokens in an account's state.
    fn logins(state: &Self::State) -> &login::Logins;
    /// Wraps a change of the tokens.
    fn login(change: login::Change) -> Self::Change;
    /// Returns the id of the account's page.
    fn page_id(identity: &Identity) -> &str;
    /// Returns the fields of a page besides its id and name.
    fn page_extra(identity: &Identity, picture: &str) -> Value;
}

/// Returns a page in the Graph API's format, without its token.
pub(crate) fn page<N: Graph>(account: &Account<N>, picture: &str) -> Value {
    let identity = &account.identity;
    let mut page = json!({
        "id": N::page_id(identity),
        "name": identity.username.replace(['.', '_'], " "),
        "category": "Internet company",
        "picture": {"data": {"url": picture, "is_silhouette": false}},
        "tasks": ["ADVERTISE", "ANALYZE", "CREATE_CONTENT", "MESSAGING", "MODERATE", "MANAGE"],
    });
    let extra = N::page_extra(identity, picture);
    if let (Value::Object(page), Value::Object(extra)) = (&mut page, extra) {
        page.extend(extra);
    }
    page
}

/// Returns the path below an API version such as `v25.0`.
pub(crate) fn below_version<'a, 'b>(path: &'a [&'b str]) -> &'a [&'b str] {
    let is_version = |v: &str| {
        v.strip_prefix('v').is_some_and(|v| v.split('.').all(|n| n.parse::<u8>().is_ok()))
    };
    match path {
        [first, rest @ ..] if is_version(first) => rest,
        path => path,
    }
}

/// Formats a time as the Graph API does.
pub(crate) fn time(ms: i64) -> String {
    utc(ms).format("%Y-%m-%dT%H:%M:%S+0000").to_string()
}

/// Adds the app's call usage, in percent, to a response.
pub(crate) fn with_usage(reply: Reply, percent: u32) -> Reply {
    let usage =
        json!({"call_count": percent, "total_cputime": percent / 2, "total_time": percent / 2});
    reply.with("x-app-usage", usage)
}

/// Returns the error of a caller that called too often, with the time to wait, in milliseconds.
pub(crate) fn throttled(code: u32, message: &str, business: &str, wait_ms: u64) -> Reply {
    with_wait(failure::graph(400, code, 0, message), business, wait_ms)
}

/// Adds the time to wait to a response.
pub(crate) fn with_wait(reply: Reply, business: &str, wait_ms: u64) -> Reply {
    let usage = json!({business: [{
        "type": "pages", "call_count": 100, "total_cputime": 25, "total_time": 25,
        "estimated_time_to_regain_access": wait_ms.div_ceil(60_000),
    }]});
    reply.with("x-business-use-case-usage", usage)
}
