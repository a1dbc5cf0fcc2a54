//! Table `business_reviews`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis, ReviewId, WorkspaceId};

/// A review of a business location.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "business_reviews")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key)]
    pub id: ReviewId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account.
    pub account_id: AccountId,
    /// The resource name on the platform. Unique in the account.
    pub name: String,
    /// The author. Null for an anonymous reviewer.
    pub reviewer: Option<String>,
    /// The avatar of the author.
    pub avatar_url: Option<String>,
    /// The number of stars, from 1 to 5.
    pub rating: Option<i32>,
    /// The text.
    pub text: String,
    /// List of `{url, thumbnail_url, type}`.
    pub media: Json,
    /// The reply: `{text, state, policy_violation, updated_at}`. Null without a reply.
    pub reply: Option<Json>,
    /// The time at which it was written.
    pub reviewed_at: Millis,
    /// The time of the last change.
    pub changed_at: Millis,
    /// The time at which it was last seen on the platform.
    pub seen_at: Millis,
    /// The time of creation.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
