//! Table `credit_reservations`.

use sea_orm::entity::prelude::*;

use crate::{Millis, UserId};

/// The status of a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
pub enum ReservationStatus {
    /// The operation is under way.
    Open,
    /// The operation was paid for.
    Settled,
    /// The operation was not carried out.
    Refunded,
}

/// Credits that are reserved for an operation, once.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "credit_reservations")]
pub struct Model {
    /// The operation.
    #[sea_orm(primary_key, auto_increment = false)]
    pub operation: String,
    /// The owner of the wallet.
    pub user_id: UserId,
    /// The part from the included pool.
    pub included: i64,
    /// The part from the purchased pool.
    pub purchased: i64,
    /// The period from which the included ones are.
    pub period: Option<String>,
    /// The status.
    pub status: ReservationStatus,
    /// The time at which it is refunded if nothing has ended it.
    pub expires_at: Millis,
    /// The time at which it was made.
    pub created_at: Millis,
    /// The time at which it ended.
    pub ended_at: Option<Millis>,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
