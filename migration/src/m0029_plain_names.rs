//! Clearer names for the columns of durable work.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Renames the columns of the lease to `fencing_token` and `lease_expirations`.
pub struct PlainNames;

impl MigrationName for PlainNames {
    fn name(&self) -> &'static str {
        "m0029_plain_names"
    }
}

/// Every table of durable work.
const TABLES: &[&str] = &[
    "accounts",
    "ai_jobs",
    "analytics_syncs",
    "business_profiles",
    "chores",
    "inbound_events",
    "inbox_files",
    "inbox_syncs",
    "letters",
    "media_analyses",
    "media_assets",
    "media_variants",
    "outgoing",
    "posts",
    "stripe_events",
    "suggestion_rounds",
    "webhook_deliveries",
];

#[async_trait::async_trait]
impl MigrationTrait for PlainNames {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in TABLES {
            let renamed = [("fence", "fencing_token"), ("laps", "lease_expirations")]
                .map(|(old, new)| format!("ALTER TABLE {table} RENAME COLUMN {old} TO {new}"));
            ddl::run(manager, &renamed.each_ref().map(String::as_str)).await?;
        }
        Ok(())
    }
}
