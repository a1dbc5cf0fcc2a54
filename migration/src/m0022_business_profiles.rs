//! Business profiles: locations, their reviews and their media.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds business profiles. Accounts that are already connected are due at once.
pub struct BusinessProfiles;

impl MigrationName for BusinessProfiles {
    fn name(&self) -> &'static str {
        "m0022_business_profiles"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for BusinessProfiles {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "CREATE TABLE business_profiles (
        id {auto},
        workspace_id {uuid} NOT NULL,
        account_id BIGINT NOT NULL,
        location {json},
        verified BOOLEAN,
        last_post_at BIGINT,
        posts_known BOOLEAN NOT NULL DEFAULT false,
        average_rating DOUBLE PRECISION,
        total_reviews BIGINT,
        backfilled BOOLEAN NOT NULL DEFAULT false,
        synced_at BIGINT,
        facts_at BIGINT,
        due_at BIGINT,
        fence BIGINT NOT NULL DEFAULT 0,
        attempts INTEGER NOT NULL DEFAULT 0,
        laps INTEGER NOT NULL DEFAULT 0,
        held_by TEXT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL)",
    "CREATE UNIQUE INDEX business_profiles_account ON business_profiles (account_id)",
    "CREATE INDEX business_profiles_due ON business_profiles (due_at, id) WHERE due_at IS NOT NULL",
    "CREATE INDEX business_profiles_due_fair ON business_profiles (workspace_id, due_at, id) WHERE due_at IS NOT NULL",
    "CREATE TABLE business_reviews (
        id {auto},
        workspace_id {uuid} NOT NULL,
        account_id BIGINT NOT NULL,
        name TEXT NOT NULL,
        reviewer TEXT,
        avatar_url TEXT,
        rating INTEGER,
        text TEXT NOT NULL,
        media {json} NOT NULL,
        reply {json},
        reviewed_at BIGINT NOT NULL,
        changed_at BIGINT NOT NULL,
        seen_at BIGINT NOT NULL,
        created_at BIGINT NOT NULL)",
    "CREATE UNIQUE INDEX business_reviews_name ON business_reviews (account_id, name)",
    "CREATE INDEX business_reviews_latest ON business_reviews (workspace_id, changed_at, id)",
    "CREATE TABLE business_media (
        id {auto},
        workspace_id {uuid} NOT NULL,
        account_id BIGINT NOT NULL,
        name TEXT,
        category TEXT NOT NULL,
        requested_category TEXT,
        video BOOLEAN NOT NULL,
        url TEXT,
        thumbnail_url TEXT,
        source_url TEXT,
        width BIGINT,
        height BIGINT,
        view_count BIGINT,
        status TEXT NOT NULL,
        error {json},
        replaces TEXT,
        added_at BIGINT,
        seen_at BIGINT NOT NULL,
        created_at BIGINT NOT NULL)",
    "CREATE UNIQUE INDEX business_media_name ON business_media (account_id, name) WHERE name IS NOT NULL",
    "CREATE INDEX business_media_latest ON business_media (workspace_id, created_at, id)",
    "INSERT INTO business_profiles (workspace_id, account_id, due_at, created_at, updated_at)
        SELECT workspace_id, id, updated_at, updated_at, updated_at FROM accounts
        WHERE status = 'connected' AND platform = 'google_business'",
];
