//! Scheduled changes of subscriptions, pauses, and the posts that wait for their end.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the columns for pausing, downgrading and cancelling a subscription.
pub struct SubscriptionChanges;

impl MigrationName for SubscriptionChanges {
    fn name(&self) -> &'static str {
        "m0015_subscription_changes"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for SubscriptionChanges {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "ALTER TABLE billing_subscriptions ADD COLUMN schedule_id TEXT",
    "ALTER TABLE billing_subscriptions ADD COLUMN pending_tier TEXT",
    "ALTER TABLE billing_subscriptions ADD COLUMN pending_at BIGINT",
    "ALTER TABLE billing_subscriptions ADD COLUMN paused_at BIGINT",
    "ALTER TABLE billing_subscriptions ADD COLUMN resumes_at BIGINT",
    "ALTER TABLE billing_subscriptions ADD COLUMN last_paused_at BIGINT",
    "CREATE INDEX billing_subscriptions_user ON billing_subscriptions (user_id, created_at)",
    "CREATE TABLE unpaid_posts (
        post_id BIGINT NOT NULL PRIMARY KEY,
        workspace_id {uuid} NOT NULL)",
    "CREATE INDEX unpaid_posts_workspace ON unpaid_posts (workspace_id)",
];
