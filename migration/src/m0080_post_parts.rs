//! Further public parts of posts, with their addresses.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the column of a post's further parts, such as the segments of a thread.
pub struct PostParts;

impl MigrationName for PostParts {
    fn name(&self) -> &'static str {
        "m0080_post_parts"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for PostParts {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, &["ALTER TABLE posts ADD COLUMN parts {json}"]).await
    }
}
