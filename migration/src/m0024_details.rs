//! Details that clients set on their own rows.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the description of a webhook and the requested post type.
pub struct Details;

impl MigrationName for Details {
    fn name(&self) -> &'static str {
        "m0024_details"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Details {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &[
    "ALTER TABLE webhooks ADD COLUMN description TEXT",
    "ALTER TABLE posts ADD COLUMN requested_post_type TEXT",
];
