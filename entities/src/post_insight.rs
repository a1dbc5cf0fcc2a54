//! Table `post_insights`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, InsightId, Millis, PostId, WorkspaceId};

/// A comparison of a post with earlier posts at the same age. There is one for each age.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "post_insights")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: InsightId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account.
    pub account_id: AccountId,
    /// The post.
    pub post_id: PostId,
    /// The platform identifier.
    pub platform: String,
    /// The age.
    pub checkpoint: String,
    /// The insight, as replies show it.
    pub insight: Json,
    /// The time of creation.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
