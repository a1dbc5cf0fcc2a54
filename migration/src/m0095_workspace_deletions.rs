//! The deletion of workspaces.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the deletions, which are work, and the posts that one has paused.
pub struct WorkspaceDeletions;

impl MigrationName for WorkspaceDeletions {
    fn name(&self) -> &'static str {
        "m0095_workspace_deletions"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for WorkspaceDeletions {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "CREATE TABLE workspace_deletions (
        id {auto},
        uid {uuid} NOT NULL,
        workspace_id {uuid} NOT NULL,
        requested_by {uuid},
        state TEXT NOT NULL,
        ends_at BIGINT NOT NULL,
        receipt {json} NOT NULL,
        due_at BIGINT,
        fencing_token BIGINT NOT NULL,
        attempts INTEGER NOT NULL,
        lease_expirations INTEGER NOT NULL,
        held_by TEXT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        ended_at BIGINT)",
    "CREATE UNIQUE INDEX workspace_deletions_uid ON workspace_deletions (uid)",
    "CREATE UNIQUE INDEX workspace_deletions_open ON workspace_deletions (workspace_id) \
     WHERE state IN ('waiting', 'deleting')",
    "CREATE INDEX workspace_deletions_workspace ON workspace_deletions (workspace_id, id)",
    "CREATE INDEX workspace_deletions_due ON workspace_deletions (due_at, id) WHERE due_at IS NOT NULL",
    "CREATE TABLE leaving_posts (
        post_id BIGINT NOT NULL PRIMARY KEY,
        workspace_id {uuid} NOT NULL)",
    "CREATE INDEX leaving_posts_workspace ON leaving_posts (workspace_id)",
    "ALTER TABLE workspaces ADD COLUMN deletion_at BIGINT",
];
