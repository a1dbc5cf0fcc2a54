//! Messages and comments of accounts, the events that networks send about them, and changes on networks that must
//! happen once.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the inbox. Accounts that are already connected are due at once.
pub struct Inbox;

impl MigrationName for Inbox {
    fn name(&self) -> &'static str {
        "m0021_inbox"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Inbox {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "CREATE TABLE inbox_conversations (
        id {auto},
        workspace_id {uuid} NOT NULL,
        account_id BIGINT NOT NULL,
        participant_id TEXT NOT NULL,
        participant_username TEXT,
        participant_name TEXT,
        participant_avatar TEXT,
        last_text TEXT NOT NULL,
        last_outbound BOOLEAN NOT NULL,
        last_at BIGINT NOT NULL,
        last_inbound_at BIGINT,
        unanswered BOOLEAN NOT NULL,
        created_at BIGINT NOT NULL)",
    "CREATE UNIQUE INDEX inbox_conversations_participant ON inbox_conversations (account_id, participant_id)",
    "CREATE INDEX inbox_conversations_latest ON inbox_conversations (workspace_id, last_at, id)",
    "CREATE TABLE inbox_messages (
        id {auto},
        workspace_id {uuid} NOT NULL,
        account_id BIGINT NOT NULL,
        conversation_id BIGINT NOT NULL,
        remote_id TEXT,
        outbound BOOLEAN NOT NULL,
        text TEXT NOT NULL,
        attachments {json} NOT NULL,
        status TEXT NOT NULL,
        error {json},
        deleted BOOLEAN NOT NULL DEFAULT false,
        sent_at BIGINT NOT NULL,
        created_at BIGINT NOT NULL)",
    "CREATE UNIQUE INDEX inbox_messages_remote ON inbox_messages (account_id, remote_id) WHERE remote_id IS NOT NULL",
    "CREATE INDEX inbox_messages_of ON inbox_messages (conversation_id, sent_at, id)",
    "CREATE INDEX inbox_messages_old ON inbox_messages (sent_at)",
    "CREATE TABLE inbox_comments (
        id {auto},
        workspace_id {uuid} NOT NULL,
        account_id BIGINT NOT NULL,
        post_id BIGINT,
        platform_post_id TEXT NOT NULL,
        remote_id TEXT,
        parent_id BIGINT,
        parent_remote_id TEXT,
        author_id TEXT,
        author_username TEXT,
        author_name TEXT,
        author_avatar TEXT,
        own BOOLEAN NOT NULL,
        text TEXT NOT NULL,
        attachments {json} NOT NULL,
        like_count BIGINT,
        reply_count BIGINT,
        hidden BOOLEAN NOT NULL DEFAULT false,
        deleted BOOLEAN NOT NULL DEFAULT false,
        unanswered BOOLEAN NOT NULL,
        private_replied BOOLEAN NOT NULL DEFAULT false,
        url TEXT,
        status TEXT,
        error {json},
        commented_at BIGINT NOT NULL,
        changed_at BIGINT NOT NULL,
        created_at BIGINT NOT NULL)",
    "CREATE UNIQUE INDEX inbox_comments_remote ON inbox_comments (account_id, remote_id) WHERE remote_id IS NOT NULL",
    "CREATE INDEX inbox_comments_latest ON inbox_comments (workspace_id, commented_at, id)",
    "CREATE INDEX inbox_comments_parent ON inbox_comments (parent_id) WHERE parent_id IS NOT NULL",
    "CREATE INDEX inbox_comments_post ON inbox_comments (account_id, platform_post_id)",
    "CREATE TABLE inbox_syncs (
        id {auto},
        workspace_id {uuid} NOT NULL,
        account_id BIGINT NOT NULL,
        backfilled BOOLEAN NOT NULL DEFAULT false,
        subscribed_at BIGINT,
        asked_at BIGINT,
        last_synced_at BIGINT,
        needs_permission BOOLEAN NOT NULL DEFAULT false,
        due_at BIGINT,
        fence BIGINT NOT NULL DEFAULT 0,
        attempts INTEGER NOT NULL DEFAULT 0,
        laps INTEGER NOT NULL DEFAULT 0,
        held_by TEXT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL)",
    "CREATE UNIQUE INDEX inbox_syncs_account ON inbox_syncs (account_id)",
    "CREATE INDEX inbox_syncs_due ON inbox_syncs (due_at, id) WHERE due_at IS NOT NULL",
    "CREATE INDEX inbox_syncs_due_fair ON inbox_syncs (workspace_id, due_at, id) WHERE due_at IS NOT NULL",
    "CREATE TABLE inbound_events (
        id {auto},
        workspace_id {uuid} NOT NULL,
        account_id BIGINT NOT NULL,
        dedup_key TEXT NOT NULL,
        happened_at BIGINT NOT NULL,
        item {json},
        due_at BIGINT,
        fence BIGINT NOT NULL DEFAULT 0,
        attempts INTEGER NOT NULL DEFAULT 0,
        laps INTEGER NOT NULL DEFAULT 0,
        held_by TEXT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL)",
    "CREATE UNIQUE INDEX inbound_events_key ON inbound_events (dedup_key)",
    "CREATE INDEX inbound_events_old ON inbound_events (updated_at)",
    "CREATE INDEX inbound_events_account ON inbound_events (account_id, happened_at, id) WHERE due_at IS NOT NULL",
    "CREATE INDEX inbound_events_due ON inbound_events (due_at, id) WHERE due_at IS NOT NULL",
    "CREATE INDEX inbound_events_due_fair ON inbound_events (workspace_id, due_at, id) WHERE due_at IS NOT NULL",
    "CREATE TABLE outgoing (
        id {auto},
        workspace_id {uuid} NOT NULL,
        account_id BIGINT NOT NULL,
        target TEXT NOT NULL,
        target_id BIGINT NOT NULL,
        scope TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        dedup_key TEXT,
        change {json} NOT NULL,
        status TEXT NOT NULL,
        state {json},
        steps {json} NOT NULL,
        sending_at BIGINT,
        sending_until BIGINT,
        repeated INTEGER NOT NULL DEFAULT 0,
        remote_id TEXT,
        error {json},
        request_id TEXT NOT NULL,
        due_at BIGINT,
        fence BIGINT NOT NULL DEFAULT 0,
        attempts INTEGER NOT NULL DEFAULT 0,
        laps INTEGER NOT NULL DEFAULT 0,
        held_by TEXT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL)",
    "CREATE UNIQUE INDEX outgoing_key ON outgoing (dedup_key) WHERE dedup_key IS NOT NULL",
    "CREATE INDEX outgoing_scope ON outgoing (scope, fingerprint)",
    "CREATE INDEX outgoing_target ON outgoing (target, target_id)",
    "CREATE INDEX outgoing_due ON outgoing (due_at, id) WHERE due_at IS NOT NULL",
    "CREATE INDEX outgoing_due_fair ON outgoing (workspace_id, due_at, id) WHERE due_at IS NOT NULL",
    "INSERT INTO inbox_syncs (workspace_id, account_id, due_at, created_at, updated_at)
        SELECT workspace_id, id, updated_at, updated_at, updated_at FROM accounts
        WHERE status = 'connected' AND platform IN ('facebook', 'instagram', 'threads')",
];
