//! The holder of a row, and the order of an account's posts.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::ConnectionTrait;

/// Adds the holder of a lease to every work table, and the columns that keep the posts of one account in order.
pub struct Lines;

impl MigrationName for Lines {
    fn name(&self) -> &'static str {
        "m0012_lines"
    }
}

/// Every table whose rows workers lease.
const TABLES: [&str; 7] = [
    "posts",
    "webhook_deliveries",
    "media_assets",
    "media_analyses",
    "media_variants",
    "chores",
    "accounts",
];

#[async_trait::async_trait]
impl MigrationTrait for Lines {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        for table in TABLES {
            db.execute_unprepared(&format!("ALTER TABLE {table} ADD COLUMN held_by TEXT")).await?;
        }
        db.execute_unprepared(
            "ALTER TABLE posts ADD COLUMN out_of_line BOOLEAN NOT NULL DEFAULT false",
        )
        .await?;
        db.execute_unprepared(
            "CREATE INDEX posts_line ON posts (account_id, scheduled_at, id) \
             WHERE due_at IS NOT NULL AND NOT out_of_line",
        )
        .await?;
        Ok(())
    }
}
