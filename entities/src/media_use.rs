//! Table `media_uses`: the files that each post has had since it was created or last changed. Rows of a deleted post
//! may remain.

use sea_orm::entity::prelude::*;

use crate::{AssetId, PostId};

/// A file that a post has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "media_uses")]
pub struct Model {
    /// The file.
    #[sea_orm(primary_key, auto_increment = false)]
    pub asset_id: AssetId,
    /// The post.
    #[sea_orm(primary_key, auto_increment = false)]
    pub post_id: PostId,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
