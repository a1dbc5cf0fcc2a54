//! The index of posts that a pause holds back, by account.

use sea_orm_migration::prelude::*;

use crate::index;

/// Adds the index by which the earlier posts of an account are found that a pause holds back.
pub struct TurnsOfHeld;

impl MigrationName for TurnsOfHeld {
    fn name(&self) -> &'static str {
        "m0098_turns_of_held"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for TurnsOfHeld {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let held = ("post_holds_line", "post_holds (account_id, scheduled_at, post_id)");
        index::build(manager, &[held]).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }
}
