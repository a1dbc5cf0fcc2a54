//! Table `media_waits`: posts that continue when a file is ready. The row is removed when the post is woken up.

use sea_orm::entity::prelude::*;

use crate::{AssetId, PostId};

/// A post that waits for a file to be analysed or converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "media_waits")]
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
