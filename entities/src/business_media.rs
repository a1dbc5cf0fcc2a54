//! Table `business_media`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::Serialize;

use crate::{AccountId, BusinessMediaId, Millis, WorkspaceId};

/// The status of a photo or video.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize, JsonSchema)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum BusinessMediaStatus {
    /// It waits to be sent.
    Queued,
    /// It is being sent.
    Sending,
    /// The platform is reviewing it.
    InReview,
    /// The platform shows it.
    Live,
    /// The platform rejected it.
    Rejected,
    /// It was not sent.
    Failed,
    /// The outcome is unknown: the platform may have it.
    Unknown,
}

/// A photo or video of a business location.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "business_media")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key)]
    pub id: BusinessMediaId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account.
    pub account_id: AccountId,
    /// The resource name on the platform. Null until it is known.
    pub name: Option<String>,
    /// The category in the profile.
    pub category: String,
    /// The requested category, if the platform uses another one.
    pub requested_category: Option<String>,
    /// True if it is a video.
    pub video: bool,
    /// The address on the platform.
    pub url: Option<String>,
    /// The address of the thumbnail.
    pub thumbnail_url: Option<String>,
    /// The address that the file was copied from.
    pub source_url: Option<String>,
    /// The width in pixels.
    pub width: Option<i64>,
    /// The height in pixels.
    pub height: Option<i64>,
    /// The number of views.
    pub view_count: Option<i64>,
    /// The status.
    pub status: BusinessMediaStatus,
    /// The reason for the failure.
    pub error: Option<Json>,
    /// The name of the media that it replaced.
    pub replaces: Option<String>,
    /// The time at which it was added, as the platform reports it.
    pub added_at: Option<Millis>,
    /// The time at which it was last seen on the platform.
    pub seen_at: Millis,
    /// The time of creation.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
