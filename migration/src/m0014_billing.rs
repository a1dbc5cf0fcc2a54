//! Signups, subscriptions of users, and the requests to and events from Stripe.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the tables for signing up and paying. Existing plans were set by operators.
pub struct Billing;

impl MigrationName for Billing {
    fn name(&self) -> &'static str {
        "m0014_billing"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Billing {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "ALTER TABLE subscriptions ADD COLUMN granted BOOLEAN NOT NULL DEFAULT true",
    "CREATE TABLE signups (
        id {uuid} NOT NULL PRIMARY KEY,
        token_hash TEXT NOT NULL,
        email TEXT NOT NULL,
        name TEXT NOT NULL,
        plan_tier TEXT NOT NULL,
        api_addon BOOLEAN NOT NULL,
        source TEXT NOT NULL,
        status TEXT NOT NULL,
        checkout_id TEXT,
        checkout_url TEXT,
        user_id {uuid},
        is_duplicate BOOLEAN NOT NULL DEFAULT false,
        asked_at BIGINT NOT NULL,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL)",
    "CREATE TABLE billing_subscriptions (
        id {uuid} NOT NULL PRIMARY KEY,
        user_id {uuid} NOT NULL,
        stripe_id TEXT NOT NULL,
        customer_id TEXT NOT NULL,
        status TEXT NOT NULL,
        plan_tier TEXT NOT NULL,
        api_addon BOOLEAN NOT NULL,
        amount BIGINT NOT NULL,
        currency TEXT NOT NULL,
        period_start BIGINT NOT NULL,
        period_end BIGINT NOT NULL,
        revision BIGINT NOT NULL DEFAULT 0,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL)",
    "CREATE TABLE stripe_calls (
        id {uuid} NOT NULL PRIMARY KEY,
        dedup_key TEXT NOT NULL,
        request_id {uuid} NOT NULL,
        reply_id {uuid},
        created_at BIGINT NOT NULL)",
    "CREATE TABLE stripe_events (
        id {auto},
        event_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        object_id TEXT NOT NULL,
        status TEXT NOT NULL,
        last_error TEXT,
        due_at BIGINT,
        fence BIGINT NOT NULL DEFAULT 0,
        attempts INTEGER NOT NULL DEFAULT 0,
        laps INTEGER NOT NULL DEFAULT 0,
        held_by TEXT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL)",
    "CREATE TABLE first_keys (
        user_id {uuid} NOT NULL PRIMARY KEY,
        created_at BIGINT NOT NULL)",
    "CREATE UNIQUE INDEX signups_token ON signups (token_hash)",
    "CREATE INDEX signups_user ON signups (user_id) WHERE user_id IS NOT NULL",
    "CREATE INDEX signups_expires ON signups (expires_at)",
    "CREATE UNIQUE INDEX billing_subscriptions_stripe ON billing_subscriptions (stripe_id)",
    "CREATE UNIQUE INDEX billing_subscriptions_live ON billing_subscriptions (user_id) WHERE status <> 'ended'",
    "CREATE UNIQUE INDEX stripe_calls_key ON stripe_calls (dedup_key)",
    "CREATE UNIQUE INDEX stripe_events_event ON stripe_events (event_id)",
    "CREATE INDEX stripe_events_due ON stripe_events (due_at, id) WHERE due_at IS NOT NULL",
];
