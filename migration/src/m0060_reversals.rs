//! Withdrawals of credits that can be reversed, and the end and the next add-on of subscriptions.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the number of credits that a refund or dispute has really taken, the date at which a subscription ends, and
/// whether its next plan has the add-on.
pub struct Reversals;

impl MigrationName for Reversals {
    fn name(&self) -> &'static str {
        "m0060_reversals"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Reversals {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(
            manager,
            &[
                "ALTER TABLE credit_purchases ADD COLUMN taken BIGINT NOT NULL DEFAULT 0",
                "ALTER TABLE billing_subscriptions ADD COLUMN cancel_at BIGINT",
                "ALTER TABLE billing_subscriptions ADD COLUMN pending_api_addon BOOLEAN",
                // What was taken of earlier withdrawals is not known: at most all of them.
                "UPDATE credit_purchases SET taken = withdrawn WHERE withdrawn > 0",
            ],
        )
        .await
    }
}
