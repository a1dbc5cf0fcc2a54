//! Table `inbox_conversations`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, ConversationId, Millis, WorkspaceId};

/// A conversation of an account with one person.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "inbox_conversations")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key)]
    pub id: ConversationId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account.
    pub account_id: AccountId,
    /// The network's id of the person; unique in the account.
    pub participant_id: String,
    /// The person's user name.
    pub participant_username: Option<String>,
    /// The person's name.
    pub participant_name: Option<String>,
    /// The person's picture.
    pub participant_avatar: Option<String>,
    /// Text of the latest message.
    pub last_text: String,
    /// The account sent it.
    pub last_outbound: bool,
    /// The time at which it was sent.
    pub last_at: Millis,
    /// The time at which the person last wrote.
    pub last_inbound_at: Option<Millis>,
    /// The latest message is the person's.
    pub unanswered: bool,
    /// The time of creation.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
