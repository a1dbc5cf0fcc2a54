//! Table `stripe_events`.

use sea_orm::entity::prelude::*;

use crate::{Millis, StripeEventId};

/// The status of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
pub enum EventStatus {
    /// Not applied yet.
    Pending,
    /// The object it is about was read and applied.
    Applied,
    /// It could not be applied.
    Failed,
}

/// An event from Stripe, and the state of the job that applies it.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "stripe_events")]
pub struct Model {
    /// The id, which the job queue uses too.
    #[sea_orm(primary_key)]
    pub id: StripeEventId,
    /// Stripe's id.
    pub event_id: String,
    /// The type of the event, as Stripe names it.
    pub kind: String,
    /// The id of the object.
    pub object_id: String,
    /// The status.
    pub status: EventStatus,
    /// The reason the last try failed.
    pub last_error: Option<String>,
    /// The time at which the row is due or, while a worker holds it, the end of the lease. Null if there is nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Increased by every claim and finish. A worker with an older number has lost the row.
    pub fencing_token: i64,
    /// The number of failed attempts.
    pub attempts: i32,
    /// The number of consecutive leases that expired without a result.
    pub lease_expirations: i32,
    /// The time at which it came.
    pub created_at: Millis,
    /// The time of the last change.
    pub updated_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
