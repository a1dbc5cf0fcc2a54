//! The index of posts by their set.

use sea_orm_migration::prelude::*;

use crate::index;

/// Adds the index by which the posts of a set are found.
pub struct PostsOfSets;

impl MigrationName for PostsOfSets {
    fn name(&self) -> &'static str {
        "m0103_posts_of_sets"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for PostsOfSets {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let of_set = ("posts_set", "posts (post_set_id) WHERE post_set_id IS NOT NULL");
        index::build(manager, &[of_set]).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }
}
