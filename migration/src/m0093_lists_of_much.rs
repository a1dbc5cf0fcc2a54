//! Indexes of lists and clean-ups that read more than they returned.

use sea_orm_migration::prelude::*;

use crate::index::{self, Index};

/// Adds the indexes.
pub struct ListsOfMuch;

impl MigrationName for ListsOfMuch {
    fn name(&self) -> &'static str {
        "m0093_lists_of_much"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for ListsOfMuch {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        index::build(manager, INDEXES).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }
}

const INDEXES: &[Index] = &[
    ("ai_jobs_status", "ai_jobs (workspace_id, status, id)"),
    ("ai_jobs_open_since", "ai_jobs (created_at) WHERE due_at IS NOT NULL"),
    ("api_keys_user", "api_keys (user_id, created_at, id)"),
    ("business_profiles_workspace", "business_profiles (workspace_id)"),
    ("connect_sessions_ending", "connect_sessions (status, expires_at)"),
    ("inbox_files_kept", "inbox_files (kept, item_at)"),
    ("webhook_deliveries_event", "webhook_deliveries (event_id)"),
    ("webhook_deliveries_waiting", "webhook_deliveries (webhook_id, id) WHERE due_at IS NOT NULL"),
    ("analytics_syncs_refused", "analytics_syncs (id) WHERE CAST(refused AS TEXT) <> '{}'"),
];
