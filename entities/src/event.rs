//! Table `events`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, BrandId, EventId, Millis, PostId, WorkspaceId};

/// An event of a workspace. Events are the source of webhooks, the event stream and the activity list.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "events")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: EventId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The position in the stream of the workspace, without gaps. Null if it is only shown as an activity.
    pub sequence: Option<i64>,
    /// The event type, for example `post.published`.
    pub event_type: String,
    /// The payload.
    pub data: Json,
    /// The post it is about.
    pub post_id: Option<PostId>,
    /// The account it is about.
    pub account_id: Option<AccountId>,
    /// The brand that it is about.
    pub brand_id: Option<BrandId>,
    /// The platform that it is about.
    pub platform: Option<String>,
    /// The status of the post after the event.
    pub status: Option<String>,
    /// A sentence that describes the event.
    pub message: String,
    /// The request that caused it.
    pub request_id: Option<String>,
    /// The time of creation.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
