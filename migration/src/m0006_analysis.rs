//! Tables for the analysis of files and their conversions.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the work of analysing and converting files. Existing files are analysed over time.
pub struct Analysis;

impl MigrationName for Analysis {
    fn name(&self) -> &'static str {
        "m0006_analysis"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Analysis {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "CREATE TABLE media_analyses (
        id {auto},
        asset_id BIGINT NOT NULL,
        uid {uuid} NOT NULL,
        workspace_id {uuid} NOT NULL,
        path TEXT NOT NULL,
        mime TEXT NOT NULL,
        status TEXT NOT NULL,
        facts {json},
        poster_path TEXT,
        error {json},
        due_at BIGINT,
        rung_at BIGINT,
        fence BIGINT NOT NULL DEFAULT 0,
        attempts INTEGER NOT NULL DEFAULT 0,
        laps INTEGER NOT NULL DEFAULT 0,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL)",
    "CREATE TABLE media_variants (
        id {auto},
        asset_id BIGINT NOT NULL,
        uid {uuid} NOT NULL,
        workspace_id {uuid} NOT NULL,
        profile TEXT NOT NULL,
        status TEXT NOT NULL,
        path TEXT,
        mime TEXT,
        bytes BIGINT,
        width INTEGER,
        height INTEGER,
        error {json},
        due_at BIGINT,
        rung_at BIGINT,
        fence BIGINT NOT NULL DEFAULT 0,
        attempts INTEGER NOT NULL DEFAULT 0,
        laps INTEGER NOT NULL DEFAULT 0,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL)",
    "CREATE TABLE media_waits (
        asset_id BIGINT NOT NULL,
        post_id BIGINT NOT NULL,
        PRIMARY KEY (asset_id, post_id))",
    "CREATE UNIQUE INDEX media_analyses_asset ON media_analyses (asset_id)",
    "CREATE UNIQUE INDEX media_analyses_uid ON media_analyses (uid)",
    "CREATE INDEX media_analyses_due ON media_analyses (due_at, id) WHERE due_at IS NOT NULL",
    "CREATE INDEX media_analyses_due_fair ON media_analyses (workspace_id, due_at) WHERE due_at IS NOT NULL",
    "CREATE UNIQUE INDEX media_variants_profile ON media_variants (uid, profile)",
    "CREATE INDEX media_variants_asset ON media_variants (asset_id)",
    "CREATE INDEX media_variants_due ON media_variants (due_at, id) WHERE due_at IS NOT NULL",
    "CREATE INDEX media_variants_due_fair ON media_variants (workspace_id, due_at) WHERE due_at IS NOT NULL",
    "INSERT INTO media_analyses (asset_id, uid, workspace_id, path, mime, status, due_at, created_at, updated_at)
        SELECT id, uid, workspace_id, path, mime, 'pending', updated_at, updated_at, updated_at FROM media_assets
        WHERE status = 'ready' AND path IS NOT NULL AND mime IS NOT NULL",
];
