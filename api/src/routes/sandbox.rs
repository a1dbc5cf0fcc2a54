//! Routes of the simulated networks.

use super::parts::{FAULTS, reads, writes};
use crate::{Body, Method, Query, Route, WorkspaceScope, analytics, discovery, sandbox};
use fanfare_core::{
    Code,
    access::{Role, Scope},
};
use fanfare_insight::analytics::suggestions::SuggestNow;
use fanfare_publishing::accounts::{
    NewExternalPost, NewSandboxAccount, NewSandboxClock, NewSandboxFaults, NewSandboxItem,
    NewSandboxNumbers, ReviewDecisions, SandboxItemChanges, SandboxVideo,
};

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Post, "/api/v1/sandbox/accounts", "create_sandbox_account",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::Body), &sandbox::create_account)
        .doc("sandbox", "Make and connect an account on a simulated network")
        .when("Use it to try everything without posting in public; not for real accounts.")
        .takes_body(Body::of::<NewSandboxAccount>(r#"{"platform": "bluesky"}"#))
        .answers(201, "The account.")
        .refuses(&[Code::BrandRequired, Code::ProviderUnreachable]),
    Route::new(Method::Get, "/api/v1/sandbox/{platform}/posts", "list_sandbox_posts",
        reads(Scope::PostsRead, WorkspaceScope::AccountInQuery), &sandbox::list_posts)
        .doc("sandbox", "List the posts of an account on a simulated network")
        .when("Use it in tests, to see what is public on a simulated network; your posts have a list of their own.")
        .takes_query(Query::of::<sandbox::PostsQuery>())
        .answers(200, "The posts.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Post, "/api/v1/sandbox/{platform}/inbound", "create_sandbox_item",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInBody), &sandbox::create_item)
        .doc("sandbox", "Have somebody write to an account on a simulated network: a message, a comment, a review")
        .when("Use it in tests of the inbox; nobody real is written to.")
        .takes_body(Body::of::<NewSandboxItem>(r#"{"account_id": 7, "kind": "message", "text": "Are you open today?"}"#))
        .answers(201, "The network has it.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Get, "/api/v1/sandbox/{platform}/inbox", "list_sandbox_inbox",
        reads(Scope::AccountsWrite, WorkspaceScope::AccountInQuery), &sandbox::list_inbox)
        .doc("sandbox", "List the messages, comments and reviews of an account on a simulated network")
        .when("Use it in tests, to see what a simulated network holds; the inbox itself has its own lists.")
        .takes_query(Query::of::<sandbox::PostsQuery>())
        .answers(200, "The items on the network, oldest first.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Patch, "/api/v1/sandbox/{platform}/inbox/{id}", "update_sandbox_item",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInBody), &sandbox::update_item)
        .doc("sandbox", "Change an item on a simulated network, as the person who wrote it would")
        .when("Use it in tests, as the person who wrote something; not to hide a comment.")
        .takes_body(Body::of::<SandboxItemChanges>(r#"{"account_id": 7, "text": "Are you open tomorrow?"}"#))
        .answers(200, "The changed item.")
        .refuses(&[Code::PlatformNotFound, Code::NotFound]),
    Route::new(Method::Delete, "/api/v1/sandbox/{platform}/inbox/{id}", "delete_sandbox_item",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInQuery), &sandbox::delete_item)
        .doc("sandbox", "Delete an item on a simulated network, as the person who wrote it would")
        .when("Use it in tests, as the person who wrote something; not to delete a comment of yours.")
        .takes_query(Query::of::<sandbox::PostsQuery>())
        .answers(200, "The deleted item.")
        .refuses(&[Code::PlatformNotFound, Code::NotFound]),
    Route::new(Method::Put, "/api/v1/sandbox/{platform}/reviews", "set_sandbox_reviews",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInBody), &sandbox::set_decisions)
        .doc("sandbox", "Set what a simulated network decides about answers to reviews and about videos")
        .when("Use it in tests of reviews and videos of a location; it decides nothing real.")
        .takes_body(Body::of::<ReviewDecisions>(r#"{"account_id": 7, "reply": "reject"}"#))
        .answers(200, "It is set.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Put, "/api/v1/sandbox/{platform}/video", "set_sandbox_video",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInBody), &sandbox::set_video)
        .doc("sandbox", "Set how a simulated network takes videos: limits, time, failures")
        .when("Use it in tests of videos on Bluesky; it sets nothing real.")
        .takes_body(Body::of::<SandboxVideo>(r#"{"account_id": 7, "can_upload": false}"#))
        .answers(200, "It is set.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Put, "/api/v1/sandbox/{platform}/faults", "set_sandbox_faults",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInBody), &sandbox::set_faults)
        .doc("sandbox", "Set the faults of an account on a simulated network")
        .when("Use it to test how your program takes failures; it touches simulated networks alone.")
        .takes_body(Body::of::<NewSandboxFaults>(FAULTS))
        .answers(200, "The faults are set.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Get, "/api/v1/sandbox/{platform}/faults", "list_sandbox_faults",
        reads(Scope::AccountsWrite, WorkspaceScope::AccountInQuery), &sandbox::list_faults)
        .doc("sandbox", "List the faults that the next calls of an account on a simulated network will meet")
        .when("Use it in tests, to see which faults are left; what a fault did stands in the attempts of a post.")
        .takes_query(Query::of::<sandbox::PostsQuery>())
        .answers(200, "The faults that are left, in their order.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Delete, "/api/v1/sandbox/{platform}/faults", "reset_sandbox_faults",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInQuery), &sandbox::reset_faults)
        .doc("sandbox", "Remove all faults of an account on a simulated network, an ended token included")
        .when("Use it between tests; it does not connect an account again that lost its connection.")
        .takes_query(Query::of::<sandbox::PostsQuery>())
        .answers(200, "There are no faults any more.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Get, "/api/v1/sandbox/clock", "get_sandbox_clock",
        reads(Scope::AccountsWrite, WorkspaceScope::Query), &sandbox::show_clock)
        .doc("sandbox", "Show the clock of the simulated networks of a workspace")
        .when("Use it in tests that set the clock of simulated networks.")
        .takes_query(Query::of::<discovery::WorkspaceQuery>())
        .answers(200, "The clock."),
    Route::new(Method::Put, "/api/v1/sandbox/clock", "set_sandbox_clock",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::Body), &sandbox::set_clock)
        .doc("sandbox", "Set the clock of the simulated networks of a workspace")
        .when("Use it in tests of what takes days there, such as tokens that end; schedules here follow the real time.")
        .takes_body(Body::of::<NewSandboxClock>(r#"{"ahead_seconds": 86400}"#))
        .answers(200, "The clock is set."),
    Route::new(Method::Put, "/api/v1/sandbox/{platform}/metrics", "set_sandbox_metrics",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInBody), &sandbox::set_numbers)
        .doc("sandbox", "Set the numbers that a simulated network tells of an account, a day or a post")
        .when("Use it in tests of numbers; real ones are read from the networks.")
        .takes_body(Body::of::<NewSandboxNumbers>(r#"{"account_id": 1, "date": "2026-11-24", "metrics": {"reach": 120, "likes": null}}"#))
        .answers(200, "The numbers are set.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Post, "/api/v1/sandbox/{platform}/posts", "create_sandbox_post",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInBody), &sandbox::post_elsewhere)
        .doc("sandbox", "Make a post on a simulated network, as a person would there")
        .when("Use it in tests, to have posts that were made elsewhere; not to publish.")
        .takes_body(Body::of::<NewExternalPost>(r#"{"account_id": 1, "text": "Made in the app"}"#))
        .answers(201, "The post.")
        .refuses(&[Code::PlatformNotFound, Code::CaptionTooLong]),
    Route::new(Method::Delete, "/api/v1/sandbox/{platform}/posts/{id}", "delete_sandbox_post",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInQuery), &sandbox::delete_elsewhere)
        .doc("sandbox", "Delete a post on a simulated network, as a person would there")
        .when("Use it in tests, to see what becomes of numbers; not to delete posts of yours.")
        .takes_query(Query::of::<sandbox::PostsQuery>())
        .answers(200, "It is deleted.")
        .refuses(&[Code::PlatformNotFound, Code::PostNotFound]),
    Route::new(Method::Post, "/api/v1/sandbox/suggestions", "create_sandbox_suggestions",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInBody), &analytics::suggest_now)
        .doc("sandbox", "Suggest posts for an account on a simulated network at once")
        .when("Use it in tests of suggestions; real ones come every Monday.")
        .takes_body(Body::of::<SuggestNow>(r#"{"account_id": 1}"#))
        .answers(200, "The number of new suggestions.")
        .refuses(&[Code::AccountNotFound]),
];
