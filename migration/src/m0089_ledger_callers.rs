//! Callers in the ledger of a wallet.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Notes of each reservation and each entry of a ledger which key it was made with, and by which text its caller knows it.
pub struct LedgerCallers;

impl MigrationName for LedgerCallers {
    fn name(&self) -> &'static str {
        "m0089_ledger_callers"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for LedgerCallers {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "ALTER TABLE credit_reservations ADD COLUMN key_id {uuid}",
    "ALTER TABLE credit_reservations ADD COLUMN caller_reference TEXT",
    "ALTER TABLE credit_entries ADD COLUMN key_id {uuid}",
    "ALTER TABLE credit_entries ADD COLUMN caller_reference TEXT",
];
