//! Workspaces in the ledger of a wallet.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Notes of each reservation and each entry of a ledger which workspace it is for.
pub struct LedgerWorkspaces;

impl MigrationName for LedgerWorkspaces {
    fn name(&self) -> &'static str {
        "m0040_ledger_workspaces"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for LedgerWorkspaces {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "ALTER TABLE credit_reservations ADD COLUMN workspace_id {uuid}",
    "ALTER TABLE credit_entries ADD COLUMN workspace_id {uuid}",
    "CREATE INDEX credit_entries_workspace ON credit_entries (workspace_id, id) WHERE workspace_id IS NOT NULL",
];
