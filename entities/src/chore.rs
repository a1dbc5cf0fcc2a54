//! Table `chores`.

use sea_orm::entity::prelude::*;

use crate::{ChoreId, Millis};

/// A recurring upkeep job.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "chores")]
pub struct Model {
    /// Its id.
    #[sea_orm(primary_key)]
    pub id: ChoreId,
    /// The name, unique.
    pub name: String,
    /// The time at which there is something to do; the end of the lease while a worker holds the row; null: nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Raised by every claim, finish and edit: a holder of an older number has lost the row.
    pub fencing_token: i64,
    /// Failed tries of the work so far.
    pub attempts: i32,
    /// Leases in a row that ended without a result.
    pub lease_expirations: i32,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
