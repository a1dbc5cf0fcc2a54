//! A column for the warnings of a published post.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the list of warnings about what a network does not show of a post.
pub struct PostWarnings;

impl MigrationName for PostWarnings {
    fn name(&self) -> &'static str {
        "m0027_post_warnings"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for PostWarnings {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &["ALTER TABLE posts ADD COLUMN warnings {json}"];
