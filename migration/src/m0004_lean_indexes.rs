//! Fewer index entries for each post: the benchmark of the whole job showed that they were the largest part of its
//! cost.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DatabaseBackend};

/// Drops an index that time-ordered ids make redundant, and leaves room on pages for heap-only (HOT) updates.
pub struct LeanIndexes;

impl MigrationName for LeanIndexes {
    fn name(&self) -> &'static str {
        "m0004_lean_indexes"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for LeanIndexes {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        // Event ids begin with the time.
        db.execute_unprepared("DROP INDEX events_created").await?;
        if manager.get_database_backend() == DatabaseBackend::Postgres {
            // Enqueuing and steps change no indexed column: with room on the page they touch no index.
            db.execute_unprepared("ALTER TABLE posts SET (fillfactor = 60)").await?;
            db.execute_unprepared("ALTER TABLE post_attempts SET (fillfactor = 60)").await?;
        }
        Ok(())
    }
}
