//! Tables derived from metrics: profiles of accounts, insights about posts, suggestions.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the tables of the performance loop.
pub struct PerformanceLoop;

impl MigrationName for PerformanceLoop {
    fn name(&self) -> &'static str {
        "m0020_loop"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for PerformanceLoop {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "CREATE TABLE performance_profiles (
        account_id BIGINT NOT NULL PRIMARY KEY,
        profile {json} NOT NULL,
        derived_at BIGINT NOT NULL)",
    "CREATE TABLE post_insights (
        id {uuid} NOT NULL PRIMARY KEY,
        workspace_id {uuid} NOT NULL,
        account_id BIGINT NOT NULL,
        post_id BIGINT NOT NULL,
        platform TEXT NOT NULL,
        checkpoint TEXT NOT NULL,
        insight {json} NOT NULL,
        created_at BIGINT NOT NULL)",
    "CREATE UNIQUE INDEX post_insights_checkpoint ON post_insights (post_id, checkpoint)",
    "CREATE INDEX post_insights_workspace ON post_insights (workspace_id, created_at, id)",
    "CREATE TABLE post_suggestions (
        id {uuid} NOT NULL PRIMARY KEY,
        workspace_id {uuid} NOT NULL,
        account_id BIGINT NOT NULL,
        platform TEXT NOT NULL,
        period_key TEXT NOT NULL,
        ordinal INTEGER NOT NULL,
        subject_id BIGINT NOT NULL,
        caption TEXT NOT NULL,
        rationale TEXT NOT NULL,
        status TEXT NOT NULL,
        post_id BIGINT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL)",
    "CREATE UNIQUE INDEX post_suggestions_week ON post_suggestions (account_id, period_key, ordinal)",
    "CREATE INDEX post_suggestions_workspace ON post_suggestions (workspace_id, status, created_at, id)",
    "CREATE INDEX post_suggestions_post ON post_suggestions (post_id) WHERE post_id IS NOT NULL",
    "CREATE TABLE suggestion_rounds (
        id BIGINT NOT NULL PRIMARY KEY,
        workspace_id {uuid} NOT NULL,
        due_at BIGINT,
        fence BIGINT NOT NULL DEFAULT 0,
        attempts INTEGER NOT NULL DEFAULT 0,
        laps INTEGER NOT NULL DEFAULT 0,
        held_by TEXT)",
    "CREATE INDEX suggestion_rounds_due ON suggestion_rounds (due_at, id) WHERE due_at IS NOT NULL",
    "CREATE INDEX suggestion_rounds_due_fair ON suggestion_rounds (workspace_id, due_at, id) WHERE due_at IS NOT NULL",
];
