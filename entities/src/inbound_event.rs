//! Table `inbound_events`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, InboundId, Millis, WorkspaceId};

/// One thing that a network sent by webhook, and the work of applying it.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "inbound_events")]
pub struct Model {
    /// Its id as work.
    #[sea_orm(primary_key)]
    pub id: InboundId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The account.
    pub account_id: AccountId,
    /// Hash of what makes it the same event.
    pub dedup_key: String,
    /// Hash of the network's id of the comment that the event waits for if it comes first; null: it waits for nothing.
    pub subject_hash: Option<String>,
    /// The time at which it happened, by the network's time.
    pub happened_at: Millis,
    /// The event; null once it is applied.
    pub item: Option<Json>,
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
