//! The `ETag` of files that were copied from elsewhere.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the `ETag`, so that a file is not downloaded again while it is unchanged.
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
