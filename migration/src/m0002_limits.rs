//! Columns and indexes for counting an account's posts of the last day.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the index by which published posts are counted.
pub struct Limits;

impl MigrationName for Limits {
    fn name(&self) -> &'static str {
        "m0002_limits"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Limits {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, INDEXES).await
    }
}

const INDEXES: &[&str] =
    &["CREATE INDEX posts_public ON posts (account_id, public_at) WHERE public_at IS NOT NULL"];
