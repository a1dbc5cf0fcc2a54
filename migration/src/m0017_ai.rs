//! Files made by models, and video jobs.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the tables for generation by models.
pub struct Ai;

impl MigrationName for Ai {
    fn name(&self) -> &'static str {
        "m0017_ai"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Ai {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "ALTER TABLE media_assets ADD COLUMN ai_generated BOOLEAN NOT NULL DEFAULT FALSE",
    "CREATE TABLE ai_jobs (
        id {auto},
        uid {uuid} NOT NULL,
        workspace_id {uuid} NOT NULL,
        payer_id {uuid} NOT NULL,
        created_by {uuid} NOT NULL,
        provider TEXT NOT NULL,
        model TEXT NOT NULL,
        prompt TEXT NOT NULL,
        params {json} NOT NULL,
        credits BIGINT NOT NULL,
        status TEXT NOT NULL,
        sending_at BIGINT,
        remote_id TEXT,
        submitted_at BIGINT,
        result_url TEXT,
        result_at BIGINT,
        progress INTEGER,
        asset_uid {uuid},
        error {json},
        request_id TEXT,
        due_at BIGINT,
        fence BIGINT NOT NULL DEFAULT 0,
        attempts INTEGER NOT NULL DEFAULT 0,
        laps INTEGER NOT NULL DEFAULT 0,
        held_by TEXT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        completed_at BIGINT)",
    "CREATE UNIQUE INDEX ai_jobs_uid ON ai_jobs (uid)",
    "CREATE INDEX ai_jobs_workspace ON ai_jobs (workspace_id, id)",
    "CREATE INDEX ai_jobs_open ON ai_jobs (payer_id) WHERE status IN ('queued', 'processing')",
    "CREATE INDEX ai_jobs_due ON ai_jobs (due_at, id) WHERE due_at IS NOT NULL",
    "CREATE INDEX ai_jobs_due_of_workspace ON ai_jobs (workspace_id, due_at, id) WHERE due_at IS NOT NULL",
];
