//! Table `business_reviews`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis, ReviewId, WorkspaceId};

/// A review of a location.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "business_reviews")]
pub struct Model {
    /// Its id.
    #[sea_orm(primary_key)]
    pub id: ReviewId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account.
    pub account_id: AccountId,
    /// The network's name of it; unique in the account.
    pub name: String,
    /// The author; null for somebody who does not tell.
    pub reviewer: Option<String>,
    /// The writer's picture.
    pub avatar_url: Option<String>,
    /// Stars, 1 to 5.
    pub rating: Option<i32>,
    /// Its text.
    pub text: String,
    /// List of `{url, thumbnail_url, type}`.
    pub media: Json,
    /// `{text, state, policy_violation, updated_at}`; null without an answer.
    pub reply: Option<Json>,
    /// The time at which it was written.
    pub reviewed_at: Millis,
    /// The time at which it was last changed.
    pub changed_at: Millis,
    /// The time at which it was last seen on the network.
    pub seen_at: Millis,
    /// The time at which it was made.
    pub created_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
