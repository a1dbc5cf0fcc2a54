//! The workspace that a post was made in, as the reply tells it.

use fanfare_entities::WorkspaceId;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::access::Membership;

/// The workspace that a post was made in, and how it was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WorkspaceOfPost {
    id: WorkspaceId,
    name: String,
    is_personal: bool,
    resolved_from: ResolvedFrom,
}

/// The reason for a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ResolvedFrom {
    /// The request named it.
    Explicit,
    /// It is the account's.
    Account,
}

impl WorkspaceOfPost {
    /// The workspace of the account of a request, which may have named it as well.
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
