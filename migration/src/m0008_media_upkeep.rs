//! The deletion of everything that belongs to a deleted file, and the request that created a file.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds indexes to find derived files by their keys, and stores which request created a file.
pub struct MediaUpkeep;

impl MigrationName for MediaUpkeep {
    fn name(&self) -> &'static str {
        "m0008_media_upkeep"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for MediaUpkeep {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, STATEMENTS).await
    }
}

/// Removes the rows of files that were deleted earlier; their objects in the store are found as orphans.
const STATEMENTS: &[&str] = &[
    "ALTER TABLE media_assets ADD COLUMN request_id TEXT",
    "ALTER TABLE media_analyses ADD COLUMN request_id TEXT",
    "DELETE FROM media_variants WHERE NOT EXISTS (SELECT 1 FROM media_assets a WHERE a.id = media_variants.asset_id)",
    "DELETE FROM media_analyses WHERE NOT EXISTS (SELECT 1 FROM media_assets a WHERE a.id = media_analyses.asset_id)",
    "CREATE INDEX media_variants_path ON media_variants (path) WHERE path IS NOT NULL",
    "CREATE INDEX media_analyses_poster ON media_analyses (poster_path) WHERE poster_path IS NOT NULL",
    "CREATE INDEX media_assets_failed ON media_assets (updated_at) WHERE status = 'failed'",
];
