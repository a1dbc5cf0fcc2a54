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

/// An event of Stripe, and the work of applying it.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "stripe_events")]
pub struct Model {
    /// Its id as work.
    #[sea_orm(primary_key)]
    pub id: StripeEventId,
    /// Stripe's id.
    pub event_id: String,
    /// A sentence for the user.
    pub kind: String,
    /// To what.
    pub object_id: String,
    /// The status.
    pub status: EventStatus,
    /// The reason the last try failed.
    pub last_error: Option<String>,
    /// The time at which there is something to do; the end of the lease while a worker holds the row; null: nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Raised by every claim and finish: a holder of an older number has lost the row.
    pub fencing_token: i64,
    /// Failed tries so far.
    pub attempts: i32,
    /// Leases in a row that ended without a result.
    pub lease_expirations: i32,
    /// The time at which it came.
    pub created_at: Millis,
    /// The time at which it was last changed.
    pub updated_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
