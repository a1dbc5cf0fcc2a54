//! Table `media_uses`: which posts were given which files, since they were made or last changed. A post that is gone
//! may have left rows.

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

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
