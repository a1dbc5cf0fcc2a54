//! Indexes by which all rows of a workspace are found.

use sea_orm_migration::prelude::*;

use crate::index::{self, Index};

/// Adds the indexes.
pub struct RowsOfWorkspaces;

impl MigrationName for RowsOfWorkspaces {
    fn name(&self) -> &'static str {
        "m0096_rows_of_workspaces"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for RowsOfWorkspaces {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        index::build(manager, INDEXES).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }
}

const INDEXES: &[Index] = &[
    ("agent_feedback_workspace", "agent_feedback (workspace_id)"),
    ("api_keys_workspace", "api_keys (workspace_id) WHERE workspace_id IS NOT NULL"),
    ("connect_sessions_workspace", "connect_sessions (workspace_id)"),
    (
        "credit_reservations_workspace",
        "credit_reservations (workspace_id) WHERE caller_reference IS NOT NULL",
    ),
    ("drop_sessions_workspace", "drop_sessions (workspace_id)"),
    ("feedback_workspace", "feedback (workspace_id)"),
    ("inbound_events_workspace", "inbound_events (workspace_id)"),
    ("oauth_codes_workspace", "oauth_codes (workspace_id)"),
    ("oauth_grants_workspace", "oauth_grants (workspace_id)"),
    ("outgoing_workspace", "outgoing (workspace_id)"),
    ("remote_results_account", "remote_results (account_id)"),
    ("uploads_workspace", "uploads (workspace_id)"),
];
