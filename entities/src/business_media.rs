//! Table `business_media`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::Serialize;

use crate::{AccountId, BusinessMediaId, Millis, WorkspaceId};

/// How far a photo or film is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize, JsonSchema)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum BusinessMediaStatus {
    /// To be sent.
    Queued,
    /// On its way.
    Sending,
    /// The network looks it over.
    InReview,
    /// It is seen.
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
    /// Where it belongs.
    pub category: String,
    /// What was asked for, where the network calls it otherwise.
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
    /// How often it was seen.
    pub view_count: Option<i64>,
    /// How far it is.
    pub status: BusinessMediaStatus,
    /// Why it failed.
    pub error: Option<Json>,
    /// The name of what it took the place of.
    pub replaces: Option<String>,
    /// When it was added, by the network's time.
    pub added_at: Option<Millis>,
    /// When it was last seen on the network.
    pub seen_at: Millis,
    /// When it was made.
    pub created_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
