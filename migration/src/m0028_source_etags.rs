//! The `ETag` of files that were copied from elsewhere.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds it, so that a file is not fetched again while its address still gives the same one.
pub struct SourceEtags;

impl MigrationName for SourceEtags {
    fn name(&self) -> &'static str {
        "m0028_source_etags"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for SourceEtags {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

const STATEMENTS: &[&str] = &["ALTER TABLE media_assets ADD COLUMN source_etag TEXT"];
