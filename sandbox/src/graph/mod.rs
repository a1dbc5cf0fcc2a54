//! Parts that Meta's networks share: refusals, fields that are asked for, posts in two calls, the login by which a
//! person lets an app act for pages.
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

/// A network whose accounts are reached through the pages of a person.
pub(crate) trait Graph: Network {
    /// Returns the tokens in an account's state.
    fn logins(state: &Self::State) -> &login::Logins;
    /// A change of them.
    fn login(change: login::Change) -> Self::Change;
    /// The id of the account's page.
    fn page_id(identity: &Identity) -> &str;
    /// Returns the members of a page besides its id and name.
    fn page_extra(identity: &Identity, picture: &str) -> Value;
}

/// A page as the Graph API shows it, without its token.
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

/// The path below an API version such as `v25.0`.
pub(crate) fn below_version<'a, 'b>(path: &'a [&'b str]) -> &'a [&'b str] {
    let is_version = |v: &str| {
        v.strip_prefix('v').is_some_and(|v| v.split('.').all(|n| n.parse::<u8>().is_ok()))
    };
    match path {
        [first, rest @ ..] if is_version(first) => rest,
        path => path,
    }
}

/// A time as the Graph API writes it.
pub(crate) fn time(ms: i64) -> String {
    utc(ms).format("%Y-%m-%dT%H:%M:%S+0000").to_string()
}

/// The answer with the app's use of its calls, in percent.
pub(crate) fn with_usage(reply: Reply, percent: u32) -> Reply {
    let usage =
        json!({"call_count": percent, "total_cputime": percent / 2, "total_time": percent / 2});
    reply.with("x-app-usage", usage)
}

/// The refusal of a caller that called too often, with the time after which it may call again, in milliseconds.
pub(crate) fn throttled(code: u32, message: &str, business: &str, wait_ms: u64) -> Reply {
    with_wait(failure::graph(400, code, 0, message), business, wait_ms)
}

/// The answer with the time after which the caller may call again.
pub(crate) fn with_wait(reply: Reply, business: &str, wait_ms: u64) -> Reply {
    let usage = json!({business: [{
        "type": "pages", "call_count": 100, "total_cputime": 25, "total_time": 25,
        "estimated_time_to_regain_access": wait_ms.div_ceil(60_000),
    }]});
    reply.with("x-business-use-case-usage", usage)
}
