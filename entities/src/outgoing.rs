//! Table `outgoing`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis, OutgoingId, WorkspaceId};

/// The status of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
pub enum OutgoingStatus {
    /// It is waiting or being made.
    Sending,
    /// The change was made.
    Sent,
    /// The change was certainly not made.
    Failed,
    /// The outcome is unknown: the change may have been made.
    Unknown,
}

/// A change on a platform that must be made exactly once, and the state of the job that makes it.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "outgoing")]
pub struct Model {
    /// The id, which the job queue uses too.
    #[sea_orm(primary_key)]
    pub id: OutgoingId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account.
    pub account_id: AccountId,
    /// The table of what it makes or changes.
    pub target: String,
    /// The row in that table.
    pub target_id: i64,
    /// The object that it answers. Two changes with the same scope and fingerprint are the same.
    pub scope: String,
    /// The hash of its content.
    pub fingerprint: String,
    /// The hash of the `Idempotency-Key` of its request.
    pub dedup_key: Option<String>,
    /// The change, in the form that connectors accept.
    pub change: Json,
    /// The status.
    pub status: OutgoingStatus,
    /// The connector's state between two steps.
    pub state: Option<Json>,
    /// The ledger: list of `{name, phase, started_at, ended_at, outcome, worker}`.
    pub steps: Json,
    /// The time at which a changing call was about to start whose outcome is not known yet.
    pub sending_at: Option<Millis>,
    /// The deadline of that call.
    pub sending_until: Option<Millis>,
    /// The time at which a complete list first did not show the result of the call. Null if none was read.
    pub absent_at: Option<Millis>,
    /// The number of times that call was made again.
    pub repeated: i32,
    /// The network's id of what was made.
    pub remote_id: Option<String>,
    /// The reason for the failure.
    pub error: Option<Json>,
    /// The request that asked for it.
    pub request_id: String,
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
