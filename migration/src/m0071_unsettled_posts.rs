//! The index of posts with a call whose outcome is not known.

use sea_orm_migration::prelude::*;

use crate::index;

/// Adds the index.
pub struct UnsettledPosts;

impl MigrationName for UnsettledPosts {
    fn name(&self) -> &'static str {
        "m0071_unsettled_posts"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for UnsettledPosts {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let on = "posts (account_id) WHERE sending_at IS NOT NULL OR duplicate_risk";
        index::build(manager, &[("posts_unsettled", on)]).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }
}
