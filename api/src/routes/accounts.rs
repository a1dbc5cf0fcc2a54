//! Routes of accounts and their posting times.

use super::parts::{reads, writes};
use crate::{Body, Bucket, Method, Query, Route, WorkspaceScope, accounts, posting_schedule};
use fanfare_core::{
    Code,
    access::{Role, Scope},
    input::ListQuery,
};
use fanfare_publishing::posting_schedule::{NewGrid, NextSlotQuery};

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Get, "/api/v1/accounts", "list_accounts", reads(Scope::AccountsRead, WorkspaceScope::Query),
        &accounts::list)
        .doc("accounts", "List connected accounts")
        .when("Use it first, to learn the ids that posts need; not to see what a platform takes.")
        .core()
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<ListQuery>())
        .shows("accounts")
        .answers(200, "The accounts, oldest first."),
    Route::new(Method::Get, "/api/v1/accounts/{id}/schema", "get_platform_schema",
        reads(Scope::AccountsRead, WorkspaceScope::Account),
        &accounts::schema)
        .doc("accounts", "Show the JSON Schema of an account's settings")
        .when("Use it before sending `settings`, to learn the fields of this account; not for all platforms at once.")
        .core()
        .counts_against(Bucket::Reads)
        .answers(200, "The schema."),
    Route::new(Method::Delete, "/api/v1/accounts/{id}", "disconnect_account",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::Account), &accounts::disconnect)
        .doc("accounts", "Disconnect an account, for good")
        .when("Use it when the user has said which account is to go; not to renew credentials, which connecting again does.")
        .answers(200, "It is disconnected."),
    Route::new(Method::Get, "/api/v1/accounts/{id}/slots", "get_account_slots",
        reads(Scope::PostsRead, WorkspaceScope::Account),
        &posting_schedule::get)
        .doc("accounts", "Show the times of day at which an account posts")
        .when("Use it to see at which times posts go out; not for the next free time, which is a call of its own.")
        .counts_against(Bucket::Reads)
        .answers(200, "The grid."),
    Route::new(Method::Put, "/api/v1/accounts/{id}/slots", "set_account_slots",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Account), &posting_schedule::set)
        .doc("accounts", "Set the times of day at which an account posts")
        .when("Use it when the user wants other posting times; posts that are scheduled stay where they are.")
        .takes_body(Body::of::<NewGrid>(r#"{"times": ["09:00", "17:30"], "days": ["monday"], "timezone": "Europe/Berlin"}"#))
        .answers(200, "The grid."),
    Route::new(Method::Get, "/api/v1/slots/next", "find_available_slot", reads(Scope::PostsRead, WorkspaceScope::AccountInQuery),
        &posting_schedule::next)
        .doc("accounts", "Find an account's next free slot")
        .when("Use it for a good time where the user named none; not when a time is given.")
        .core()
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<NextSlotQuery>())
        .answers(200, "The slot, or null with the reason.")
        .refuses(&[Code::InvalidTimestamp]),
];
