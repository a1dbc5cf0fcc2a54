//! Media that callers upload: where it was sent, the address at which it is served, and which posts need it.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DatabaseBackend};

use crate::ddl;

/// Adds uploads, guest upload sessions, and further facts about files.
pub struct Uploads;

impl MigrationName for Uploads {
    fn name(&self) -> &'static str {
        "m0005_uploads"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Uploads {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, COLUMNS).await?;
        ddl::run(manager, TABLES).await?;
        ddl::run(manager, INDEXES).await?;
        let review =
            "UPDATE media_assets SET review_at = created_at + 2592000000 WHERE status = 'ready'";
        manager.get_connection().execute_unprepared(review).await?;
        let known = if manager.get_database_backend() == DatabaseBackend::Postgres {
            KNOWN_USES_POSTGRES
        } else {
            KNOWN_USES_SQLITE
        };
        manager.get_connection().execute_unprepared(known).await?;
        Ok(())
    }
}

const COLUMNS: &[&str] = &[
    "ALTER TABLE media_assets ADD COLUMN public_name TEXT",
    "ALTER TABLE media_assets ADD COLUMN digest TEXT",
    "ALTER TABLE media_assets ADD COLUMN created_by {uuid}",
    "ALTER TABLE media_assets ADD COLUMN drop_session_id {uuid}",
    "ALTER TABLE media_assets ADD COLUMN review_at BIGINT",
];

const TABLES: &[&str] = &[
    "CREATE TABLE uploads (
        id {uuid} NOT NULL,
        workspace_id {uuid} NOT NULL,
        created_by {uuid} NOT NULL,
        token_hash TEXT NOT NULL,
        public_name TEXT NOT NULL,
        filename TEXT NOT NULL,
        mime TEXT NOT NULL,
        bytes BIGINT NOT NULL,
        tries INTEGER NOT NULL,
        spent_at BIGINT,
        expires_at BIGINT NOT NULL,
        created_at BIGINT NOT NULL,
        PRIMARY KEY (id))",
    "CREATE TABLE drop_sessions (
        id {uuid} NOT NULL,
        workspace_id {uuid} NOT NULL,
        created_by {uuid} NOT NULL,
        token_hash TEXT NOT NULL,
        filename TEXT,
        max_files INTEGER NOT NULL,
        files INTEGER NOT NULL,
        expires_at BIGINT NOT NULL,
        created_at BIGINT NOT NULL,
        PRIMARY KEY (id))",
    "CREATE TABLE media_uses (
        asset_id BIGINT NOT NULL,
        post_id BIGINT NOT NULL,
        PRIMARY KEY (asset_id, post_id))",
];

const INDEXES: &[&str] = &[
    "CREATE UNIQUE INDEX media_assets_public ON media_assets (public_name) WHERE public_name IS NOT NULL",
    "CREATE INDEX media_assets_path ON media_assets (path) WHERE path IS NOT NULL",
    "CREATE INDEX media_assets_digest ON media_assets (workspace_id, digest) WHERE digest IS NOT NULL",
    "CREATE INDEX media_assets_workspace ON media_assets (workspace_id, id)",
    "CREATE INDEX media_assets_review ON media_assets (review_at) WHERE review_at IS NOT NULL",
    "CREATE UNIQUE INDEX uploads_token ON uploads (token_hash)",
    "CREATE INDEX uploads_expires ON uploads (expires_at)",
    "CREATE UNIQUE INDEX drop_sessions_token ON drop_sessions (token_hash)",
    "CREATE INDEX drop_sessions_expires ON drop_sessions (expires_at)",
    "CREATE INDEX media_uses_post ON media_uses (post_id)",
];

/// Adds the media of posts that were created before this table.
const KNOWN_USES_POSTGRES: &str = "INSERT INTO media_uses (asset_id, post_id) \
    SELECT DISTINCT a.id, p.id FROM posts p \
    CROSS JOIN LATERAL json_array_elements(CASE WHEN json_typeof(p.media) = 'array' THEN p.media ELSE '[]'::json END) AS m \
    JOIN media_assets a ON a.uid = (m ->> 'asset_id')::uuid";

const KNOWN_USES_SQLITE: &str = "INSERT INTO media_uses (asset_id, post_id) \
    SELECT DISTINCT a.id, p.id FROM posts p, json_each(p.media) AS m \
    JOIN media_assets a ON a.uid = unhex(replace(json_extract(m.value, '$.asset_id'), '-', ''))";
