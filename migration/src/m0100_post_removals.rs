//! Posts that networks no longer show.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the time at which a published post was first missing on its network.
pub struct PostRemovals;

impl MigrationName for PostRemovals {
    fn name(&self) -> &'static str {
        "m0100_post_removals"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for PostRemovals {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, &["ALTER TABLE posts ADD COLUMN removed_at BIGINT"]).await
    }
}
