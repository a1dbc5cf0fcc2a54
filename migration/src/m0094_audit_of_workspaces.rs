//! Entries of the audit log that belong to a workspace.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the column.
pub struct AuditOfWorkspaces;

impl MigrationName for AuditOfWorkspaces {
    fn name(&self) -> &'static str {
        "m0094_audit_of_workspaces"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for AuditOfWorkspaces {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, &["ALTER TABLE audit_entries ADD COLUMN workspace_id {uuid}"]).await
    }
}
