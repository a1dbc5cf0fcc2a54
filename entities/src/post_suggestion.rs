//! Table `post_suggestions`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis, PostId, SuggestionId, WorkspaceId};

/// The status of a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
pub enum SuggestionStatus {
    /// Nothing yet.
    Pending,
    /// A post was created from it.
    Scheduled,
    /// A person dismissed it.
    Dismissed,
}

/// A suggestion of a post for an account, based on a successful post.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "post_suggestions")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: SuggestionId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account.
    pub account_id: AccountId,
    /// The platform identifier.
    pub platform: String,
    /// The ISO week.
    pub period_key: String,
    /// The position in that week, from 1.
    pub ordinal: i32,
    /// The row of the numbers of the post that it follows.
    pub subject_id: i64,
    /// The suggested text.
    pub caption: String,
    /// The reason it is suggested.
    pub rationale: String,
    /// The status.
    pub status: SuggestionStatus,
    /// The post that was made of it.
    pub post_id: Option<PostId>,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the last change.
    pub updated_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
