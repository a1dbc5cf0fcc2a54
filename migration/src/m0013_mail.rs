//! Letters, and links to set a password.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the work of sending letters, and the links in them.
pub struct Mail;

impl MigrationName for Mail {
    fn name(&self) -> &'static str {
        "m0013_mail"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Mail {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "CREATE TABLE letters (
        id {auto},
        uid {uuid} NOT NULL,
        dedup_key TEXT NOT NULL,
        secret_id {uuid},
        user_id {uuid},
        status TEXT NOT NULL,
        due_at BIGINT,
        fence BIGINT NOT NULL DEFAULT 0,
        attempts INTEGER NOT NULL DEFAULT 0,
        laps INTEGER NOT NULL DEFAULT 0,
        held_by TEXT,
        last_error TEXT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL)",
    "CREATE TABLE password_links (
        hash TEXT NOT NULL PRIMARY KEY,
        user_id {uuid} NOT NULL,
        kind TEXT NOT NULL,
        next TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL,
        used_at BIGINT)",
    "CREATE UNIQUE INDEX letters_key ON letters (dedup_key)",
    "CREATE INDEX letters_due ON letters (due_at, id) WHERE due_at IS NOT NULL",
    "CREATE INDEX letters_kept ON letters (id) WHERE secret_id IS NOT NULL",
    "CREATE INDEX password_links_user ON password_links (user_id)",
];
