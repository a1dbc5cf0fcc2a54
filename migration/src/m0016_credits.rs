//! Wallets of credits, their ledger, reservations for running work, and purchased packs.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds wallets and their ledger.
pub struct Credits;

impl MigrationName for Credits {
    fn name(&self) -> &'static str {
        "m0016_credits"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Credits {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "CREATE TABLE credit_wallets (
        user_id {uuid} NOT NULL PRIMARY KEY,
        included BIGINT NOT NULL CHECK (included >= 0),
        included_held BIGINT NOT NULL CHECK (included_held >= 0),
        allowance BIGINT NOT NULL CHECK (allowance >= 0),
        purchased BIGINT NOT NULL CHECK (purchased >= 0),
        held BIGINT NOT NULL CHECK (held >= 0),
        source TEXT,
        period TEXT,
        last_start BIGINT NOT NULL,
        period_end BIGINT NOT NULL,
        revision BIGINT NOT NULL,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL)",
    "CREATE TABLE credit_entries (
        id {auto},
        user_id {uuid} NOT NULL,
        kind TEXT NOT NULL,
        pool TEXT NOT NULL,
        amount BIGINT NOT NULL,
        balance BIGINT NOT NULL,
        operation TEXT,
        ref TEXT,
        created_at BIGINT NOT NULL)",
    "CREATE INDEX credit_entries_user ON credit_entries (user_id, id)",
    "CREATE TABLE credit_reservations (
        operation TEXT NOT NULL PRIMARY KEY,
        user_id {uuid} NOT NULL,
        included BIGINT NOT NULL,
        purchased BIGINT NOT NULL,
        period TEXT,
        status TEXT NOT NULL,
        expires_at BIGINT NOT NULL,
        created_at BIGINT NOT NULL,
        ended_at BIGINT)",
    "CREATE INDEX credit_reservations_open ON credit_reservations (expires_at) WHERE status = 'open'",
    "CREATE INDEX credit_reservations_user ON credit_reservations (user_id) WHERE status = 'open'",
    "CREATE TABLE credit_purchases (
        payment_intent TEXT NOT NULL PRIMARY KEY,
        user_id {uuid} NOT NULL,
        credits BIGINT NOT NULL,
        withdrawn BIGINT NOT NULL,
        created_at BIGINT NOT NULL)",
];
