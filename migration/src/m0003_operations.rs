//! Tables for operators: log-ins, heartbeats of the fleet, pauses, counters over time, and the audit log.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the operators' tables.
pub struct Operations;

impl MigrationName for Operations {
    fn name(&self) -> &'static str {
        "m0003_operations"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Operations {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, TABLES).await?;
        ddl::run(manager, INDEXES).await
    }
}

const TABLES: &[&str] = &[
    "CREATE TABLE operators (
        id {uuid} NOT NULL,
        email TEXT NOT NULL,
        password_hash TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        PRIMARY KEY (id))",
    "CREATE TABLE operator_sessions (
        hash TEXT NOT NULL,
        operator_id {uuid} NOT NULL,
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL,
        PRIMARY KEY (hash))",
    "CREATE TABLE login_attempts (
        name TEXT NOT NULL,
        tries INTEGER NOT NULL,
        until_at BIGINT NOT NULL,
        PRIMARY KEY (name))",
    "CREATE TABLE workers (
        name TEXT NOT NULL,
        host TEXT NOT NULL,
        pid BIGINT NOT NULL,
        version TEXT NOT NULL,
        queues TEXT NOT NULL,
        slots INTEGER NOT NULL,
        running {json} NOT NULL,
        running_count INTEGER NOT NULL,
        started_at BIGINT NOT NULL,
        seen_at BIGINT NOT NULL,
        drain_at BIGINT,
        PRIMARY KEY (name))",
    "CREATE TABLE pauses (
        id {uuid} NOT NULL,
        platform TEXT,
        account_id BIGINT,
        reason TEXT NOT NULL,
        operator TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        PRIMARY KEY (id))",
    "CREATE TABLE post_holds (
        post_id BIGINT NOT NULL,
        pause_id {uuid} NOT NULL,
        PRIMARY KEY (post_id))",
    "CREATE TABLE samples (
        minute BIGINT NOT NULL,
        kind TEXT NOT NULL,
        platform TEXT NOT NULL,
        measure TEXT NOT NULL,
        n BIGINT NOT NULL,
        PRIMARY KEY (minute, kind, platform, measure))",
    "CREATE TABLE audit_entries (
        id {auto},
        action_id {uuid} NOT NULL,
        operator TEXT NOT NULL,
        action TEXT NOT NULL,
        target TEXT NOT NULL,
        reason TEXT NOT NULL,
        outcome TEXT NOT NULL,
        details {json} NOT NULL,
        request_id TEXT NOT NULL,
        created_at BIGINT NOT NULL)",
];

const INDEXES: &[&str] = &[
    "CREATE UNIQUE INDEX operators_email ON operators (email)",
    "CREATE INDEX operator_sessions_operator ON operator_sessions (operator_id)",
    // One pause for each target; nulls would not count as equal.
    "CREATE UNIQUE INDEX pauses_target ON pauses (COALESCE(platform, ''), COALESCE(account_id, 0))",
    "CREATE INDEX post_holds_pause ON post_holds (pause_id)",
    "CREATE UNIQUE INDEX audit_entries_action ON audit_entries (action_id)",
    // For operators who search failed posts, which are few among ten million.
    "CREATE INDEX posts_failed ON posts (id) WHERE status = 'failed'",
    "CREATE INDEX webhooks_failing ON webhooks (failing_since) WHERE failing_since IS NOT NULL",
];
