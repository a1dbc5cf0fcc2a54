//! The first day that a daily reading has read.

use sea_orm_migration::prelude::*;

use crate::ddl;

/// Adds the column.
pub struct SyncFirstDay;

impl MigrationName for SyncFirstDay {
    fn name(&self) -> &'static str {
        "m0082_sync_first_day"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for SyncFirstDay {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        ddl::run(manager, &["ALTER TABLE analytics_syncs ADD COLUMN first_day TEXT"]).await
    }
}
