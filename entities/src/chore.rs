//! Table `chores`.

use sea_orm::entity::prelude::*;

use crate::{ChoreId, Millis};

/// A recurring maintenance job.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "chores")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key)]
    pub id: ChoreId,
    /// The unique name.
    pub name: String,
    /// The time at which the row is due or, while a worker holds it, the end of the lease. Null if there is nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Increased by every claim, finish and edit. A worker with an older number has lost the row.
    pub fencing_token: i64,
    /// The number of failed attempts.
    pub attempts: i32,
    /// The number of consecutive leases that expired without a result.
    pub lease_expirations: i32,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
