//! Table `inbox_messages`.

use crate::{AccountId, ConversationId, MessageId, Millis, WorkspaceId};
use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// The status of a message or an answer to a comment.
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
pub enum ItemStatus {
    /// Another person wrote it.
    Received,
    /// It is being sent.
    Sending,
    /// The platform has it.
    Sent,
    /// The platform does not have it, so it is safe to send it again.
    Failed,
    /// The outcome is unknown: the platform may have it.
    Unknown,
}

/// A direct message.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "inbox_messages")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key)]
    pub id: MessageId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account.
    pub account_id: AccountId,
    /// The conversation.
    pub conversation_id: ConversationId,
    /// The network's id; null until it is known.
    pub remote_id: Option<String>,
    /// The account sent it.
    pub outbound: bool,
    /// The text.
    pub text: String,
    /// List of `{type, url, mime, bytes, path, reason}`.
    pub attachments: Json,
    /// The status.
    pub status: ItemStatus,
    /// The reason for the failure.
    pub error: Option<Json>,
    /// The sender deleted it.
    pub deleted: bool,
    /// The time at which it was sent, by the network's time.
    pub sent_at: Millis,
    /// The time of creation.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
