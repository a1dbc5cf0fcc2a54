//! Table `business_media`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::Serialize;

use crate::{AccountId, BusinessMediaId, Millis, WorkspaceId};

/// The status of a photo or film.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize, JsonSchema)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum BusinessMediaStatus {
    /// Waits to be sent.
    Queued,
    /// On its way.
    Sending,
    /// The network looks it over.
    InReview,
    /// The network shows it.
    Live,
    /// The network did not take it.
    Rejected,
    /// It was not sent.
    Failed,
    /// The network may have it.
    Unknown,
}

/// A photo or film of a location.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "business_media")]
pub struct Model {
    /// Its id.
    #[sea_orm(primary_key)]
    pub id: BusinessMediaId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account.
    pub account_id: AccountId,
    /// The network's name of it; null until it is known.
    pub name: Option<String>,
    /// The category on the profile.
    pub category: String,
    /// The requested category, where the network calls it otherwise.
    pub requested_category: Option<String>,
    /// It is a film.
    pub video: bool,
    /// Its address on the network.
    pub url: Option<String>,
    /// The address of a small picture.
    pub thumbnail_url: Option<String>,
    /// The address that it was fetched from.
    pub source_url: Option<String>,
    /// Pixels.
    pub width: Option<i64>,
    /// Pixels.
    pub height: Option<i64>,
    /// The number of times it was seen.
    pub view_count: Option<i64>,
    /// The status.
    pub status: BusinessMediaStatus,
    /// The reason it failed.
    pub error: Option<Json>,
    /// The name of what it took the place of.
    pub replaces: Option<String>,
    /// The time at which it was added, by the network's time.
    pub added_at: Option<Millis>,
    /// The time at which it was last seen on the network.
    pub seen_at: Millis,
    /// The time at which it was made.
    pub created_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
