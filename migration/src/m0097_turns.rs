//! Posts that wait for their turn among the posts of their account.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Notes which posts were set aside behind another one, and the account and the time of posts that a pause holds back.
pub struct Turns;

impl MigrationName for Turns {
    fn name(&self) -> &'static str {
        "m0097_turns"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Turns {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "ALTER TABLE posts ADD COLUMN behind BOOLEAN NOT NULL DEFAULT false",
    "ALTER TABLE post_holds ADD COLUMN account_id BIGINT",
    "ALTER TABLE post_holds ADD COLUMN scheduled_at BIGINT",
];
