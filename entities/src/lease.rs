//! Table `leases`.

use sea_orm::entity::prelude::*;

use crate::Millis;

/// A lease for a task that only one process may do.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "leases")]
pub struct Model {
    /// The work.
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    /// The process that holds the lease.
    pub holder: String,
    /// The end of the lease, by the clock of the database.
    pub until_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
