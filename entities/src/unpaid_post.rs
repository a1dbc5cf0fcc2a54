//! Table `unpaid_posts`.

use sea_orm::entity::prelude::*;

use crate::{PostId, WorkspaceId};

/// Records that a post was paused with the subscription of its workspace. It is scheduled again when the subscription
/// resumes.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "unpaid_posts")]
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
