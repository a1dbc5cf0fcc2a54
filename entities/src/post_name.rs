//! Table `post_names`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, PostId};

/// A further name that a network has for a post, for a part of it, or for a file in it: lists and webhooks may call the post
/// by it.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "post_names")]
pub struct Model {
    /// The account.
    #[sea_orm(primary_key, auto_increment = false)]
    pub account_id: AccountId,
    /// The network's id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub remote_id: String,
    /// The post.
    pub post_id: PostId,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
