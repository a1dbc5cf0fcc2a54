//! The voices of brands.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the voice of a brand: its tone, its facts, and what is never said for it.
pub struct BrandProfiles;

impl MigrationName for BrandProfiles {
    fn name(&self) -> &'static str {
        "m0025_brand_profiles"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for BrandProfiles {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &["CREATE TABLE brand_profiles (
        brand_id {uuid} NOT NULL PRIMARY KEY REFERENCES brands (id),
        voice {json} NOT NULL,
        updated_at BIGINT NOT NULL)"];
