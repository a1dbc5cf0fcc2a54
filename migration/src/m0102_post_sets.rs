//! Post sets: one message for several accounts.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds post sets, what each of their posts has of its own, and the versions of posts.
pub struct PostSets;

impl MigrationName for PostSets {
    fn name(&self) -> &'static str {
        "m0102_post_sets"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for PostSets {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "CREATE TABLE post_sets (
        id {uuid} NOT NULL PRIMARY KEY,
        workspace_id {uuid} NOT NULL,
        created_by {uuid} NOT NULL,
        content {json} NOT NULL,
        group_key TEXT NOT NULL,
        scheduled_at BIGINT,
        timezone TEXT,
        settlement INTEGER NOT NULL DEFAULT 0,
        settled_at BIGINT,
        version BIGINT NOT NULL DEFAULT 1,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL)",
    "CREATE INDEX post_sets_workspace ON post_sets (workspace_id, id)",
    "CREATE TABLE post_set_targets (
        post_id BIGINT NOT NULL PRIMARY KEY,
        set_id {uuid} NOT NULL,
        place INTEGER NOT NULL,
        overrides {json} NOT NULL,
        own_time BOOLEAN NOT NULL DEFAULT false,
        offset_ms BIGINT)",
    "CREATE INDEX post_set_targets_set ON post_set_targets (set_id, place)",
    "ALTER TABLE posts ADD COLUMN post_set_id {uuid}",
    "ALTER TABLE posts ADD COLUMN version BIGINT NOT NULL DEFAULT 1",
];
