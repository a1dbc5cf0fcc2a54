//! Deletions as replies show them.

use fanfare_core::{clock::Time, error::Result, unreadable::UnreadableColumn};
use fanfare_entities::{WorkspaceId, workspace_deletion, workspace_deletion::DeletionState};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::receipt::Receipt;

/// The deletion of a workspace.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WorkspaceDeletion")]
pub struct Deletion {
    id: Uuid,
    workspace_id: WorkspaceId,
    state: DeletionState,
    requested_at: Time,
    /// The time at which it begins. Until then it can be stopped.
    due_at: Time,
    /// The time at which it was done or stopped.
    ended_at: Option<Time>,
    /// What was removed where, and what stays; null until it is done.
    receipt: Option<Receipt>,
}

/// A deletion.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneDeletion {
    deletion: Deletion,
}

impl Deletion {
    /// Returns the view of a row.
    ///
    /// # Errors
    /// The receipt cannot be read.
    pub fn of(row: &workspace_deletion::Model) -> Result<Self> {
        let receipt = match row.state {
            DeletionState::Done => Some(receipt_of(row)?),
            _ => None,
        };
        Ok(Self {
            id: row.uid,
            workspace_id: row.workspace_id,
            state: row.state,
            requested_at: Time(row.created_at),
            due_at: Time(row.ends_at),
            ended_at: row.ended_at.map(Time),
            receipt,
        })
    }
}

impl OneDeletion {
    /// Returns the reply with a row.
    ///
    /// # Errors
    /// The receipt cannot be read.
    pub(super) fn of(row: &workspace_deletion::Model) -> Result<Self> {
        Ok(Self { deletion: Deletion::of(row)? })
    }
}

/// Reads the receipt of a row.
///
/// # Errors
/// It has another form.
pub(super) fn receipt_of(row: &workspace_deletion::Model) -> Result<Receipt> {
    let read = serde_json::from_value(row.receipt.clone());
    Ok(read.map_err(|_| UnreadableColumn("receipt of a deletion"))?)
}
