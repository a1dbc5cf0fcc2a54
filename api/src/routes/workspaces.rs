//! Routes of the deletion of workspaces. They belong to the person: a key that is bound to a workspace does not reach
//! them, and the workspace of their policy is the person's own. The handlers look at the one in the path, which may be
//! gone.

use super::parts::{api_key_only, of_person};
use crate::{Method, Policy, Query, Route, workspaces};
use fanfare_core::{
    Code,
    access::{Role, Scope},
};
use fanfare_ops::workspace_deletion::DeletionQuery;

/// The policy of these routes. Who has stopped paying may leave, too.
const fn leaving(scope: Scope, role: Role) -> Policy {
    of_person(Policy { addon: false, role, ..api_key_only(scope) })
}

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Delete, "/api/v1/workspaces/{id}", "delete_workspace",
        leaving(Scope::AccountsWrite, Role::Admin), &workspaces::delete)
        .doc("workspaces", "Delete a workspace with all that is in it, after 30 days")
        .when("Use it only when the user asks to leave and has named the workspace; for a pause, pause the posts.")
        .takes_query(Query::of::<DeletionQuery>())
        .answers(202, "It waits. Keys, tools and links of the workspace have ended, and its posts are paused.")
        .refuses(&[Code::WorkspaceNotFound, Code::WorkspaceDeletionBlocked]),
    Route::new(Method::Get, "/api/v1/workspaces/{id}/deletion", "get_workspace_deletion",
        leaving(Scope::AccountsRead, Role::Viewer), &workspaces::get_deletion)
        .doc("workspaces", "Show how far the deletion of a workspace is, and its receipt")
        .when("Use it after a deletion was asked for; when it is done, it says what was removed where.")
        .answers(200, "The latest deletion.")
        .refuses(&[Code::WorkspaceNotFound, Code::DeletionNotFound]),
    Route::new(Method::Delete, "/api/v1/workspaces/{id}/deletion", "stop_workspace_deletion",
        leaving(Scope::AccountsWrite, Role::Admin), &workspaces::stop_deletion)
        .doc("workspaces", "Stop the deletion of a workspace before it begins")
        .when("Use it when the user wants to keep the workspace after all; keys of it must be made anew.")
        .answers(200, "It is stopped. Its posts are scheduled again whose time is still ahead.")
        .refuses(&[Code::WorkspaceNotFound, Code::DeletionNotFound, Code::InvalidTransition]),
];
