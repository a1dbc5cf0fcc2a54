//! Table `inbox_syncs`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis, SyncId, WorkspaceId};

/// The work of reading the inbox of an account.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "inbox_syncs")]
pub struct Model {
    /// Its id as work.
    #[sea_orm(primary_key)]
    pub id: SyncId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account; each has one row at most.
    pub account_id: AccountId,
    /// True once everything from before the connection has been read.
    pub backfilled: bool,
    /// Since when the network sends what happens.
    pub subscribed_at: Option<Millis>,
    /// The time at which somebody last asked for it to be read.
    pub asked_at: Option<Millis>,
    /// The time at which it was last read.
    pub last_synced_at: Option<Millis>,
    /// The account did not grant what is needed.
    pub needs_permission: bool,
    /// The time at which there is something to do; the end of the lease while a worker holds the row; null: nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Raised by every claim and finish: a holder of an older number has lost the row.
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
