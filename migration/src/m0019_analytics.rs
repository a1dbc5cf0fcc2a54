//! Metrics of accounts and posts, and the work of reading them.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the tables of analytics.
pub struct Analytics;

impl MigrationName for Analytics {
    fn name(&self) -> &'static str {
        "m0019_analytics"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Analytics {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "CREATE TABLE analytics_syncs (
        id BIGINT NOT NULL PRIMARY KEY,
        workspace_id {uuid} NOT NULL,
        due_at BIGINT,
        fence BIGINT NOT NULL DEFAULT 0,
        attempts INTEGER NOT NULL DEFAULT 0,
        laps INTEGER NOT NULL DEFAULT 0,
        held_by TEXT,
        wake_at BIGINT,
        daily_at BIGINT NOT NULL,
        next_day TEXT,
        listed BOOLEAN NOT NULL DEFAULT FALSE,
        synced_at BIGINT,
        complete_through TEXT,
        refused {json} NOT NULL,
        missing_permissions {json} NOT NULL,
        period_reach {json} NOT NULL,
        changed_posts INTEGER NOT NULL DEFAULT 0,
        archived BOOLEAN NOT NULL DEFAULT FALSE,
        purge_at BIGINT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL)",
    "CREATE INDEX analytics_syncs_due ON analytics_syncs (due_at, id) WHERE due_at IS NOT NULL",
    "CREATE INDEX analytics_syncs_due_fair ON analytics_syncs (workspace_id, due_at, id) WHERE due_at IS NOT NULL",
    "CREATE TABLE account_days (
        account_id BIGINT NOT NULL,
        day TEXT NOT NULL,
        numbers {json} NOT NULL,
        is_final BOOLEAN NOT NULL,
        revision INTEGER NOT NULL,
        read_at BIGINT NOT NULL,
        PRIMARY KEY (account_id, day))",
    "CREATE INDEX account_days_day ON account_days (day)",
    "CREATE TABLE post_numbers (
        id {auto},
        workspace_id {uuid} NOT NULL,
        account_id BIGINT NOT NULL,
        post_id BIGINT,
        remote_id TEXT NOT NULL,
        url TEXT,
        post_type TEXT NOT NULL,
        format TEXT NOT NULL,
        caption TEXT NOT NULL,
        published_at BIGINT NOT NULL,
        status TEXT NOT NULL,
        fetched_at BIGINT,
        next_at BIGINT,
        missing_at BIGINT,
        numbers {json} NOT NULL,
        unmeasured {json} NOT NULL,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL)",
    "CREATE UNIQUE INDEX post_numbers_remote ON post_numbers (account_id, remote_id)",
    "CREATE INDEX post_numbers_post ON post_numbers (post_id) WHERE post_id IS NOT NULL",
    "CREATE INDEX post_numbers_published ON post_numbers (account_id, published_at)",
    "CREATE INDEX post_numbers_next ON post_numbers (account_id, next_at) WHERE next_at IS NOT NULL",
    "CREATE INDEX post_numbers_workspace ON post_numbers (workspace_id, published_at)",
    "CREATE TABLE post_readings (
        post_numbers_id BIGINT NOT NULL,
        checkpoint TEXT NOT NULL,
        numbers {json} NOT NULL,
        read_at BIGINT NOT NULL,
        PRIMARY KEY (post_numbers_id, checkpoint))",
];
