//! Tables for connecting accounts: users' log-ins, connect sessions, apps registered with servers, the upkeep of
//! tokens, and posting schedules.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the tables for connecting accounts.
pub struct Connecting;

impl MigrationName for Connecting {
    fn name(&self) -> &'static str {
        "m0007_connecting"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Connecting {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, TABLES).await?;
        ddl::run(manager, COLUMNS).await?;
        ddl::run(manager, INDEXES).await
    }
}

const TABLES: &[&str] = &[
    "CREATE TABLE user_passwords (
        user_id {uuid} NOT NULL,
        password_hash TEXT NOT NULL,
        updated_at BIGINT NOT NULL,
        PRIMARY KEY (user_id))",
    "CREATE TABLE user_sessions (
        hash TEXT NOT NULL,
        user_id {uuid} NOT NULL,
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL,
        PRIMARY KEY (hash))",
    "CREATE TABLE connect_sessions (
        id {uuid} NOT NULL,
        workspace_id {uuid} NOT NULL,
        brand_id {uuid},
        user_id {uuid} NOT NULL,
        platform TEXT NOT NULL,
        sandbox BOOLEAN NOT NULL,
        auto_start BOOLEAN NOT NULL,
        status TEXT NOT NULL,
        note TEXT,
        error_code TEXT,
        opened_by {uuid},
        state_hash TEXT,
        secret_id {uuid},
        taken_at BIGINT,
        choices {json},
        account_ids {json} NOT NULL,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL,
        PRIMARY KEY (id))",
    "CREATE TABLE registered_apps (
        platform TEXT NOT NULL,
        server TEXT NOT NULL,
        redirect_uri TEXT NOT NULL,
        secret_id {uuid} NOT NULL,
        created_at BIGINT NOT NULL,
        PRIMARY KEY (platform, server, redirect_uri))",
    "CREATE TABLE slot_grids (
        account_id BIGINT NOT NULL,
        times {json} NOT NULL,
        days {json} NOT NULL,
        timezone TEXT,
        updated_at BIGINT NOT NULL,
        PRIMARY KEY (account_id))",
];

/// Accounts become work rows, whose tokens are refreshed.
const COLUMNS: &[&str] = &[
    "ALTER TABLE accounts ADD COLUMN refresh_at BIGINT",
    "ALTER TABLE accounts ADD COLUMN warned INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE accounts ADD COLUMN revoking_id {uuid}",
    "ALTER TABLE accounts ADD COLUMN due_at BIGINT",
    "ALTER TABLE accounts ADD COLUMN rung_at BIGINT",
    "ALTER TABLE accounts ADD COLUMN fence BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE accounts ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE accounts ADD COLUMN laps INTEGER NOT NULL DEFAULT 0",
    // Accounts that are already connected get their refresh schedule the first time they are due.
    "UPDATE accounts SET due_at = 0 WHERE token_expires_at IS NOT NULL AND status = 'connected'",
];

const INDEXES: &[&str] = &[
    "CREATE INDEX user_sessions_user ON user_sessions (user_id)",
    "CREATE UNIQUE INDEX connect_sessions_state ON connect_sessions (state_hash) WHERE state_hash IS NOT NULL",
    "CREATE INDEX connect_sessions_expires ON connect_sessions (expires_at)",
    "CREATE INDEX accounts_due ON accounts (due_at) WHERE due_at IS NOT NULL",
    "CREATE INDEX accounts_due_workspace ON accounts (workspace_id, due_at) WHERE due_at IS NOT NULL",
];
