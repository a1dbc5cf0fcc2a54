//! Table `post_holds`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis, PauseId, PostId};

/// A due post that is held back because of a pause.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "post_holds")]
pub struct Model {
    /// The post.
    #[sea_orm(primary_key, auto_increment = false)]
    pub post_id: PostId,
    /// The pause.
    pub pause_id: PauseId,
    /// The account of the post.
    pub account_id: Option<AccountId>,
    /// The time of the post, in ms since 1970.
    pub scheduled_at: Option<Millis>,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
