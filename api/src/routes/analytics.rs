//! Routes of metrics, insights and suggestions.

use super::parts::{pro, reads, writes};
use crate::{Method, Query, Route, WorkspaceScope, analytics};
use fanfare_core::{
    Code,
    access::{Role, Scope},
};
use fanfare_insight::analytics::{
    AccountsQuery, PostsQuery, insights::InsightsQuery, suggestions::SuggestionsQuery,
};

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Get, "/api/v1/analytics/accounts", "list_account_analytics",
        reads(Scope::AnalyticsRead, WorkspaceScope::AccountFilter), &analytics::list_accounts)
        .doc("analytics", "Show the numbers of accounts by the day, with a summary")
        .when("Use it for followers and reach over days; not for single posts.")
        .takes_query(Query::of::<AccountsQuery>())
        .answers(200, "The accounts, each with one row for each day.")
        .refuses(&[Code::AccountNotFound]),
    Route::new(Method::Get, "/api/v1/analytics/posts", "list_post_analytics",
        reads(Scope::AnalyticsRead, WorkspaceScope::AccountFilter), &analytics::list_posts)
        .doc("analytics", "List the numbers of posts, newest first")
        .when("Use it for the numbers of posts; null means unknown, not zero.")
        .takes_query(Query::of::<PostsQuery>())
        .answers(200, "A part of the posts.")
        .refuses(&[Code::AccountNotFound]),
    Route::new(Method::Get, "/api/v1/accounts/{id}/performance-profile", "get_performance_profile",
        pro(reads(Scope::AnalyticsRead, WorkspaceScope::Account)), &analytics::get_profile)
        .doc("analytics", "Show what an account does well")
        .when("Use it before writing, to learn what worked; not for single posts, which have insights.")
        .answers(200, "The profile, or why there is none."),
    Route::new(Method::Get, "/api/v1/analytics/insights", "list_insights",
        pro(reads(Scope::AnalyticsRead, WorkspaceScope::AccountFilter)), &analytics::list_insights)
        .doc("analytics", "List insights about posts, newest first")
        .when("Use it to learn why posts did well or badly; not for raw numbers.")
        .core()
        .takes_query(Query::of::<InsightsQuery>())
        .answers(200, "The insights.")
        .refuses(&[Code::AccountNotFound, Code::PostNotFound]),
    Route::new(Method::Get, "/api/v1/suggestions", "list_suggestions",
        pro(reads(Scope::AnalyticsRead, WorkspaceScope::AccountFilter)), &analytics::list_suggestions)
        .doc("analytics", "List suggested posts, newest first")
        .when("Use it for ideas that are drawn from past posts; not every week has some.")
        .takes_query(Query::of::<SuggestionsQuery>())
        .answers(200, "The suggestions.")
        .refuses(&[Code::AccountNotFound]),
    Route::new(Method::Post, "/api/v1/suggestions/{id}/dismiss", "dismiss_suggestion",
        pro(writes(Scope::PostsWrite, Role::Editor, WorkspaceScope::Suggestion)),
        &analytics::dismiss_suggestion)
        .doc("analytics", "Dismiss a suggested post")
        .when("Use it when the user does not want a suggestion; making a post of it takes `suggestion_id` there.")
        .answers(200, "The suggestion.")
        .refuses(&[Code::SuggestionAlreadyScheduled]),
];
