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

/// A file of a message or comment, and the work of copying it, or of removing the copy.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "inbox_files")]
pub struct Model {
    /// Its id as work.
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
    /// The place among the item's attachments, from 0.
    pub place: i32,
    /// The address it is copied from; null once that is done.
    pub source: Option<String>,
    /// Key in the store, once it is there.
    pub path: Option<String>,
    /// False: what it belongs to is gone, and the copy goes too.
    pub kept: bool,
    /// The time at which there is something to do; the end of the lease while a worker holds the row; null: nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Raised by every claim, finish and edit: a holder of an older number has lost the row.
    pub fencing_token: i64,
    /// Failed tries so far.
    pub attempts: i32,
    /// Leases in a row that ended without a result.
    pub lease_expirations: i32,
    /// The time at which it was made.
    pub created_at: Millis,
    /// The time at which it was last changed.
    pub updated_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
