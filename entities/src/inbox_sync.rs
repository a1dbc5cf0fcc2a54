//! Table `inbox_syncs`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis, SyncId, WorkspaceId};

/// The state of the job that reads the inbox of an account.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "inbox_syncs")]
pub struct Model {
    /// The id, which the job queue uses too.
    #[sea_orm(primary_key)]
    pub id: SyncId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account. Each account has at most one row.
    pub account_id: AccountId,
    /// True if everything from before the connection has been read.
    pub backfilled: bool,
    /// The time since which the platform sends events.
    pub subscribed_at: Option<Millis>,
    /// The time at which somebody last asked for it to be read.
    pub asked_at: Option<Millis>,
    /// The time at which it was last read.
    pub last_synced_at: Option<Millis>,
    /// The account did not grant what is needed.
    pub needs_permission: bool,
    /// The time at which the row is due or, while a worker holds it, the end of the lease. Null if there is nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Increased by every claim and finish. A worker with an older number has lost the row.
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
