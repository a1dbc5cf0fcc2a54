//! Table `inbound_events`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, InboundId, Millis, WorkspaceId};

/// An event that a platform sent by webhook, and the state of the job that applies it.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "inbound_events")]
pub struct Model {
    /// The id, which the job queue uses too.
    #[sea_orm(primary_key)]
    pub id: InboundId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account.
    pub account_id: AccountId,
    /// The hash that identifies the same event.
    pub dedup_key: String,
    /// The hash of the platform's id of the comment that the event must wait for. Null if it waits for nothing.
    pub subject_hash: Option<String>,
    /// The time at which it happened, by the network's time.
    pub happened_at: Millis,
    /// The event. Null after it was applied.
    pub item: Option<Json>,
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
