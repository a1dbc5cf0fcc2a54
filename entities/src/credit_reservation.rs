//! Table `credit_reservations`.

use sea_orm::entity::prelude::*;

use crate::{Millis, UserId};

/// How far a reservation is.
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
    /// Whose wallet.
    pub user_id: UserId,
    /// How many of the included pool.
    pub included: i64,
    /// How many of the purchased pool.
    pub purchased: i64,
    /// The period from which the included ones are.
    pub period: Option<String>,
    /// How far it is.
    pub status: ReservationStatus,
    /// When it is refunded if nothing has ended it.
    pub expires_at: Millis,
    /// When it was made.
    pub created_at: Millis,
    /// When it ended.
    pub ended_at: Option<Millis>,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
