//! Table `leaving_posts`.

use sea_orm::entity::prelude::*;

use crate::{PostId, WorkspaceId};

/// A post that is paused because its workspace is to be deleted.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "leaving_posts")]
pub struct Model {
    /// The post.
    #[sea_orm(primary_key, auto_increment = false)]
    pub post_id: PostId,
    /// The workspace.
    pub workspace_id: WorkspaceId,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
