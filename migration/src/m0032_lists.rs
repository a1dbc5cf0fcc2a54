//! Indexes for lists, look-ups and clean-ups that grew with their table.

use sea_orm_migration::prelude::*;

use crate::index::{self, Index};

/// Adds the indexes.
pub struct Lists;

impl MigrationName for Lists {
    fn name(&self) -> &'static str {
        "m0032_lists"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Lists {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        index::build(manager, LISTS).await?;
        index::build(manager, LOOK_UPS).await?;
        index::build(manager, CLEAN_UPS).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }
}

const LISTS: &[Index] = &[
    ("posts_updated", "posts (workspace_id, updated_at, id)"),
    ("posts_scheduled", "posts (workspace_id, scheduled_at, id)"),
    ("posts_created", "posts (workspace_id, created_at, id)"),
    ("posts_platform", "posts (workspace_id, platform, id)"),
    ("posts_status", "posts (workspace_id, status, id)"),
    ("posts_upcoming", "posts (workspace_id, scheduled_at, id) WHERE status = 'scheduled'"),
    ("posts_failed_lately", "posts (workspace_id, updated_at, id) WHERE status = 'failed'"),
    ("events_post", "events (post_id, id) WHERE post_id IS NOT NULL"),
    ("events_type", "events (workspace_id, event_type, id)"),
];

const LOOK_UPS: &[Index] = &[
    ("posts_remote", "posts (account_id, platform_post_id) WHERE platform_post_id IS NOT NULL"),
    ("accounts_network", "accounts (platform, remote_id)"),
    ("workspaces_owner", "workspaces (owner_id)"),
];

const CLEAN_UPS: &[Index] = &[
    ("webhook_deliveries_ended", "webhook_deliveries (updated_at) WHERE due_at IS NULL"),
    ("outgoing_ended", "outgoing (updated_at) WHERE due_at IS NULL"),
    ("stripe_events_ended", "stripe_events (updated_at) WHERE due_at IS NULL"),
    ("stripe_calls_age", "stripe_calls (created_at)"),
    ("idempotency_keys_sealed", "idempotency_keys (created_at) WHERE secret_id IS NOT NULL"),
    ("operator_sessions_end", "operator_sessions (expires_at)"),
    ("user_sessions_end", "user_sessions (expires_at)"),
    ("login_attempts_end", "login_attempts (until_at)"),
    ("password_links_end", "password_links (expires_at)"),
    ("invitations_end", "invitations (expires_at)"),
    ("letters_sealed", "letters (updated_at) WHERE secret_id IS NOT NULL"),
    ("letters_wiped", "letters (updated_at) WHERE secret_id IS NULL"),
    ("post_numbers_age", "post_numbers (published_at)"),
    ("post_suggestions_pending", "post_suggestions (created_at) WHERE status = 'pending'"),
    ("oauth_grants_ended", "oauth_grants (ended_at) WHERE ended_at IS NOT NULL"),
    ("oauth_clients_age", "oauth_clients (created_at)"),
    ("oauth_clients_fresh", "oauth_clients (fresh_until)"),
    ("inbox_conversations_age", "inbox_conversations (last_at)"),
    ("inbox_comments_age", "inbox_comments (commented_at)"),
    ("accounts_disconnected", "accounts (updated_at) WHERE status = 'disconnected'"),
    ("business_media_account", "business_media (account_id)"),
];
