//! An index for sums of a ledger over a time.

use sea_orm_migration::prelude::*;

use crate::index::{self, Index};

/// Adds the index.
pub struct LedgerTimes;

impl MigrationName for LedgerTimes {
    fn name(&self) -> &'static str {
        "m0090_ledger_times"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for LedgerTimes {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        index::build(manager, INDEXES).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }
}

const INDEXES: &[Index] =
    &[("credit_entries_time", "credit_entries (user_id, created_at) WHERE operation IS NOT NULL")];
