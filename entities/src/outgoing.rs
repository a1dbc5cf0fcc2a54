//! Table `outgoing`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis, OutgoingId, WorkspaceId};

/// The status of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
pub enum OutgoingStatus {
    /// To be made, or on its way.
    Sending,
    /// It was made.
    Sent,
    /// It was certainly not made.
    Failed,
    /// It may have been made.
    Unknown,
}

/// A change on a network that must happen once, and the work of making it.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "outgoing")]
pub struct Model {
    /// Its id as work.
    #[sea_orm(primary_key)]
    pub id: OutgoingId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account.
    pub account_id: AccountId,
    /// The table of what it makes or changes.
    pub target: String,
    /// The row of that.
    pub target_id: i64,
    /// The object that it answers: two changes with one scope and fingerprint are the same.
    pub scope: String,
    /// Hash of what it says.
    pub fingerprint: String,
    /// Hash of the `Idempotency-Key` that it came with.
    pub dedup_key: Option<String>,
    /// The change, as connectors take it.
    pub change: Json,
    /// The status.
    pub status: OutgoingStatus,
    /// The connector's state between two steps.
    pub state: Option<Json>,
    /// The ledger: list of `{name, phase, started_at, ended_at, outcome, worker}`.
    pub steps: Json,
    /// A call that changes something was about to start and is not settled.
    pub sending_at: Option<Millis>,
    /// Deadline of that call.
    pub sending_until: Option<Millis>,
    /// The number of times that call was made again.
    pub repeated: i32,
    /// The network's id of what was made.
    pub remote_id: Option<String>,
    /// The reason it failed.
    pub error: Option<Json>,
    /// The request that asked for it.
    pub request_id: String,
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
