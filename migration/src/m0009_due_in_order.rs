//! Indexes for the due work of one workspace in its complete order.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::ConnectionTrait;

/// Appends the id to the indexes by workspace and due time, so that the next few of thousands of rows with the same due
/// time are found without reading all of them.
pub struct DueInOrder;

impl MigrationName for DueInOrder {
    fn name(&self) -> &'static str {
        "m0009_due_in_order"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for DueInOrder {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in
            ["posts", "webhook_deliveries", "media_assets", "media_analyses", "media_variants"]
        {
            let db = manager.get_connection();
            db.execute_unprepared(&format!("DROP INDEX {table}_due_fair")).await?;
            db.execute_unprepared(&format!(
                "CREATE INDEX {table}_due_fair ON {table} (workspace_id, due_at, id) \
                 WHERE due_at IS NOT NULL"
            ))
            .await?;
        }
        Ok(())
    }
}
