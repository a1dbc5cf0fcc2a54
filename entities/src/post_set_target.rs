//! Table `post_set_targets`.

use sea_orm::entity::prelude::*;

use crate::{Millis, PostId, PostSetId};

/// The content and the time that a post of a set has of its own.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "post_set_targets")]
pub struct Model {
    /// The post.
    #[sea_orm(primary_key, auto_increment = false)]
    pub post_id: PostId,
    /// The set.
    pub set_id: PostSetId,
    /// Its place among the targets, from 0.
    pub place: i32,
    /// The content that it has in place of the set's, as given.
    pub overrides: Json,
    /// True if its time is its own, which a new time of the set does not change.
    pub own_time: bool,
    /// The distance of its time from that of the set, in ms.
    pub offset_ms: Option<Millis>,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
