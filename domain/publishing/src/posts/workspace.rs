//! The workspace of a new post, as replies show it.

use fanfare_core::access::Membership;
use fanfare_entities::WorkspaceId;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// The workspace of a new post, and how it was determined.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WorkspaceOfPost {
    id: WorkspaceId,
    name: String,
    is_personal: bool,
    resolved_from: ResolvedFrom,
}

/// The way in which the workspace was determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ResolvedFrom {
    /// The request named it.
    Explicit,
    /// It is the workspace of the account.
    Account,
}

impl WorkspaceOfPost {
    /// Creates the view of the account's workspace; `asked` is the workspace that the request named, if any.
    #[must_use]
    pub fn of(membership: &Membership, asked: Option<Uuid>) -> Self {
        let resolved_from =
            if asked.is_some() { ResolvedFrom::Explicit } else { ResolvedFrom::Account };
        Self {
            id: membership.workspace_id,
            name: membership.workspace_name.clone(),
            is_personal: membership.is_personal,
            resolved_from,
        }
    }
}
