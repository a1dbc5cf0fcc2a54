//! Links on which people without an account connect theirs, and where they go on afterwards.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds what a connect session knows of the program that made it, and the settings of a workspace.
pub struct ConnectLinks;

impl MigrationName for ConnectLinks {
    fn name(&self) -> &'static str {
        "m0087_connect_links"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for ConnectLinks {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "ALTER TABLE connect_sessions ADD COLUMN return_url TEXT",
    "ALTER TABLE connect_sessions ADD COLUMN reference TEXT",
    "ALTER TABLE connect_sessions ADD COLUMN app_name TEXT",
    "ALTER TABLE connect_sessions ADD COLUMN guest BOOLEAN NOT NULL DEFAULT FALSE",
    "ALTER TABLE connect_sessions ADD COLUMN guest_hash TEXT",
    "CREATE TABLE connect_settings (
        workspace_id {uuid} NOT NULL PRIMARY KEY REFERENCES workspaces (id) ON DELETE CASCADE,
        guest_links BOOLEAN NOT NULL DEFAULT FALSE,
        return_urls TEXT NOT NULL DEFAULT '',
        app_name TEXT,
        updated_at BIGINT NOT NULL
    )",
];
