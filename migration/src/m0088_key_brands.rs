//! Keys that are bound to a brand.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the column.
pub struct KeyBrands;

impl MigrationName for KeyBrands {
    fn name(&self) -> &'static str {
        "m0088_key_brands"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for KeyBrands {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, &["ALTER TABLE api_keys ADD COLUMN brand_id {uuid}"]).await
    }
}
