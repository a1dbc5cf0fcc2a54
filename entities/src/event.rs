//! Table `events`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, BrandId, EventId, Millis, PostId, WorkspaceId};

/// An event of a workspace, in order: the source of webhooks, the event stream and the activity list.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "events")]
pub struct Model {
    /// Its id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: EventId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// Place in the workspace's stream, without gaps; null: shown as activity only.
    pub sequence: Option<i64>,
    /// For example `post.published`.
    pub event_type: String,
    /// The payload.
    pub data: Json,
    /// The post it is about.
    pub post_id: Option<PostId>,
    /// The account it is about.
    pub account_id: Option<AccountId>,
    /// Brand of what it is about.
    pub brand_id: Option<BrandId>,
    /// Platform of what it is about.
    pub platform: Option<String>,
    /// Status of the post after it.
    pub status: Option<String>,
    /// One sentence for people.
    pub message: String,
    /// The request that caused it.
    pub request_id: Option<String>,
    /// The time at which it was made.
    pub created_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
