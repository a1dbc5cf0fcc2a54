//! Table `post_holds`.

use sea_orm::entity::prelude::*;

use crate::{PauseId, PostId};

/// A due post that was set aside because of a pause.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "post_holds")]
pub struct Model {
    /// The post.
    #[sea_orm(primary_key, auto_increment = false)]
    pub post_id: PostId,
    /// The pause.
    pub pause_id: PauseId,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
