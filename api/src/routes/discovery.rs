//! Routes of discovery.

use super::parts::{ANY_KEY, of_service, reads, writes};
use crate::{
    Body, Bucket, Method, Query, Route, WorkspaceScope, discovery,
    discovery::{PlatformsQuery, WorkspaceQuery},
    platform_tools,
};
use fanfare_core::{
    Code,
    access::{Role, Scope},
};
use fanfare_publishing::platform_tools::HelperRequest;

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Get, "/api/v1/whoami", "whoami", ANY_KEY, &discovery::whoami)
        .doc("discovery", "Show the caller, the key and its workspaces")
        .when("Use it first, to learn scopes and workspaces of the key; not to list accounts.")
        .core()
        .shows("user")
        .answers(200, "The caller."),
    Route::new(Method::Get, "/api/v1/rate-limits", "list_rate_limits", ANY_KEY, &discovery::list_rate_limits)
        .doc("discovery", "Show the limits of requests, and what is left of each")
        .when("Use it before many requests, or after a 429; each reply names the limit that is nearest to its end.")
        .shows("rate_limits")
        .answers(200, "The limits that count for the caller."),
    Route::new(Method::Get, "/api/v1/platforms", "list_platforms",
        of_service(reads(Scope::AccountsRead, WorkspaceScope::Query)),
        &discovery::list_platforms)
        .doc("discovery", "List what each platform takes")
        .when("Use it to learn limits, post types and helper tools before writing; not per account, which has a schema.")
        .core()
        .takes_query(Query::of::<PlatformsQuery>())
        .shows("platforms")
        .answers(200, "The platforms."),
    Route::new(Method::Post, "/api/v1/platforms/trigger", "trigger_platform_helper",
        writes(Scope::AccountsWrite, Role::Editor, WorkspaceScope::AccountInBody), &platform_tools::trigger)
        .doc("discovery", "Run a platform's helper tool; it only reads")
        .when("Use it to look something up on a network, such as boards; it only reads.")
        .takes_body(Body::of::<HelperRequest>(r#"{"tool": "pinterest.boards", "account_id": 7}"#))
        .answers(200, "The result of the tool.")
        .refuses(&[Code::ToolNotFound, Code::InvalidCredentials, Code::ProviderUnreachable]),
    Route::new(Method::Get, "/api/v1/x-posting/quota", "get_x_posting_quota", reads(Scope::PostsRead, WorkspaceScope::Query),
        &platform_tools::x_quota)
        .doc("discovery", "Show what is left of this month's posts to X")
        .when("Use it before many posts to X; links cost more there.")
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<WorkspaceQuery>())
        .answers(200, "The allowance."),
];
