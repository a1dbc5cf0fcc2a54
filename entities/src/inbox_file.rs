//! Table `inbox_files`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, InboxFileId, Millis, WorkspaceId};

/// The kind of what a file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
pub enum ItemKind {
    /// A direct message.
    Message,
    /// A comment.
    Comment,
}

/// A file of a message or comment, and the state of the job that copies it or removes the copy.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "inbox_files")]
pub struct Model {
    /// The id, which the job queue uses too.
    #[sea_orm(primary_key)]
    pub id: InboxFileId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account.
    pub account_id: AccountId,
    /// The kind of what it belongs to.
    pub item: ItemKind,
    /// The message or comment.
    pub item_id: i64,
    /// The time of the message or comment.
    pub item_at: Millis,
    /// The position among the attachments of the item, from 0.
    pub place: i32,
    /// The address that the file is copied from. Null after it was copied.
    pub source: Option<String>,
    /// The path in the store, once the file is stored.
    pub path: Option<String>,
    /// False if the message or comment is gone, so that the copy is removed too.
    pub kept: bool,
    /// The time at which the row is due or, while a worker holds it, the end of the lease. Null if there is nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Increased by every claim, finish and edit. A worker with an older number has lost the row.
    pub fencing_token: i64,
    /// The number of failed attempts.
    pub attempts: i32,
    /// The number of consecutive leases that expired without a result.
    pub lease_expirations: i32,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the last change.
    pub updated_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
