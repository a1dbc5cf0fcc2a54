//! Table `inbox_messages`.

use crate::{AccountId, ConversationId, MessageId, Millis, WorkspaceId};
use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::Serialize;

/// The status of a message or an answer to a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize, JsonSchema)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    /// Another person wrote it.
    Received,
    /// On its way.
    Sending,
    /// The network has it.
    Sent,
    /// The network does not have it; it is safe to send it again.
    Failed,
    /// The network may have it.
    Unknown,
}

/// A direct message.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "inbox_messages")]
pub struct Model {
    /// Its id.
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
    /// Its text.
    pub text: String,
    /// List of `{type, url, mime, bytes, path, reason}`.
    pub attachments: Json,
    /// The status.
    pub status: ItemStatus,
    /// The reason it failed.
    pub error: Option<Json>,
    /// Its sender took it back.
    pub deleted: bool,
    /// The time at which it was sent, by the network's time.
    pub sent_at: Millis,
    /// The time at which it was made.
    pub created_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
