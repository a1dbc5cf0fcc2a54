//! Table `unpaid_posts`.

use sea_orm::entity::prelude::*;

use crate::{PostId, WorkspaceId};

/// Says that a post was paused with its workspace's subscription, and is scheduled again with it.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "unpaid_posts")]
pub struct Model {
    /// The post.
    #[sea_orm(primary_key, auto_increment = false)]
    pub post_id: PostId,
    /// Its workspace.
    pub workspace_id: WorkspaceId,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
