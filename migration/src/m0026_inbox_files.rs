//! Files of messages and comments.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the files that arrive in inboxes. Earlier files are not copied.
pub struct InboxFiles;

impl MigrationName for InboxFiles {
    fn name(&self) -> &'static str {
        "m0026_inbox_files"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for InboxFiles {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "CREATE TABLE inbox_files (
        id {auto},
        workspace_id {uuid} NOT NULL,
        account_id BIGINT NOT NULL,
        item TEXT NOT NULL,
        item_id BIGINT NOT NULL,
        item_at BIGINT NOT NULL,
        place INTEGER NOT NULL,
        source TEXT,
        path TEXT,
        kept BOOLEAN NOT NULL DEFAULT true,
        due_at BIGINT,
        fence BIGINT NOT NULL DEFAULT 0,
        attempts INTEGER NOT NULL DEFAULT 0,
        laps INTEGER NOT NULL DEFAULT 0,
        held_by TEXT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL)",
    "CREATE UNIQUE INDEX inbox_files_of ON inbox_files (item, item_id, place)",
    "CREATE INDEX inbox_files_account ON inbox_files (account_id)",
    "CREATE INDEX inbox_files_old ON inbox_files (item_at)",
    "CREATE INDEX inbox_files_path ON inbox_files (path) WHERE path IS NOT NULL",
    "CREATE INDEX inbox_files_due ON inbox_files (due_at, id) WHERE due_at IS NOT NULL",
    "CREATE INDEX inbox_files_due_fair ON inbox_files (workspace_id, due_at, id) WHERE due_at IS NOT NULL",
];
