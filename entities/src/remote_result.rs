//! Table `remote_results`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis};

/// An object on a network that a row of ours made: a post, a segment, a comment, a message, an answer, a photo.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "remote_results")]
pub struct Model {
    /// The network's id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub remote_id: String,
    /// The account that it was made with.
    #[sea_orm(primary_key, auto_increment = false)]
    pub account_id: AccountId,
    /// The table of the row that made it: `posts` or `outgoing`.
    pub owner: String,
    /// The row.
    pub owner_id: i64,
    /// When it was recorded.
    pub recorded_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
