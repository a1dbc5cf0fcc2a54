//! Invitations of people into workspaces.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the invitations that admins send by letter.
pub struct Invitations;

impl MigrationName for Invitations {
    fn name(&self) -> &'static str {
        "m0031_invitations"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Invitations {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "CREATE TABLE invitations (
        id {uuid} NOT NULL PRIMARY KEY,
        workspace_id {uuid} NOT NULL,
        email TEXT NOT NULL,
        role TEXT NOT NULL,
        invited_by {uuid} NOT NULL,
        token_hash TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL)",
    "CREATE UNIQUE INDEX invitations_token ON invitations (token_hash)",
    "CREATE UNIQUE INDEX invitations_email ON invitations (workspace_id, email)",
];
