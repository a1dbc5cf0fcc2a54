//! The index of an account's posts by their time.

use sea_orm_migration::prelude::*;

use crate::index;

/// Adds the index by which the posts are found that are compared with a new one, unless they failed.
pub struct PostsNearInTime;

impl MigrationName for PostsNearInTime {
    fn name(&self) -> &'static str {
        "m0101_posts_near_in_time"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for PostsNearInTime {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // It leaves failed posts out, so that no other query of an account's posts by time takes it for its own.
        let near = ("posts_near", "posts (account_id, scheduled_at) WHERE status <> 'failed'");
        index::build(manager, &[near]).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }
}
