//! Table `feedback`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{FeedbackId, Millis, UserId, WorkspaceId};

/// The category of a feedback message.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    EnumIter,
    DeriveActiveEnum,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum FeedbackCategory {
    /// Something is wrong.
    Bug,
    /// Something is missing.
    Feature,
    /// Something could be better.
    Improvement,
    /// Something is unclear.
    Question,
    /// Anything else.
    Other,
}

/// The status of a feedback message.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    EnumIter,
    DeriveActiveEnum,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum FeedbackStatus {
    /// Nobody has decided yet.
    Open,
    /// It will be done.
    Planned,
    /// It is being done.
    Started,
    /// It is done.
    Done,
    /// It will not be done.
    Declined,
}

/// A message on the public feedback board. Keys, tokens and e-mail addresses are blanked before it is stored.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "feedback")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: FeedbackId,
    /// The workspace it was sent from; never shown.
    pub workspace_id: WorkspaceId,
    /// The person it is from; never shown.
    pub user_id: UserId,
    /// The kind.
    pub category: FeedbackCategory,
    /// The title.
    pub title: String,
    /// The text.
    pub description: String,
    /// The client it was sent with.
    pub source: String,
    /// The program it was sent with; only operators see it.
    pub client: Option<String>,
    /// The request it is about; only operators see it.
    pub request_id: Option<String>,
    /// The tool it is about; only operators see it.
    pub related_tool: Option<String>,
    /// The status.
    pub status: FeedbackStatus,
    /// True if an operator removed it from the board.
    pub hidden: bool,
    /// The time at which it was sent.
    pub created_at: Millis,
    /// The time of the last change.
    pub updated_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
