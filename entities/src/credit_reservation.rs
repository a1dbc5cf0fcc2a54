//! Table `credit_reservations`.

use sea_orm::entity::prelude::*;

use crate::{KeyId, Millis, UserId, WorkspaceId};

/// The status of a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
pub enum ReservationStatus {
    /// The operation is in progress.
    Open,
    /// The operation was charged.
    Settled,
    /// The operation was not carried out.
    Refunded,
}

/// A reservation of credits for one operation.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "credit_reservations")]
pub struct Model {
    /// The operation.
    #[sea_orm(primary_key, auto_increment = false)]
    pub operation: String,
    /// The owner of the wallet.
    pub user_id: UserId,
    /// The workspace of the operation.
    pub workspace_id: Option<WorkspaceId>,
    /// The credits from the included pool.
    pub included: i64,
    /// The credits from the purchased pool.
    pub purchased: i64,
    /// The period of the included credits.
    pub period: Option<String>,
    /// The status.
    pub status: ReservationStatus,
    /// The time at which it is refunded if it has not ended before.
    pub expires_at: Millis,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the end.
    pub ended_at: Option<Millis>,
    /// The key that the operation was asked for with, or the grant of a tool.
    pub key_id: Option<KeyId>,
    /// The text by which the caller knows the operation.
    pub caller_reference: Option<String>,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
