//! Table `leases`.

use sea_orm::entity::prelude::*;

use crate::Millis;

/// The leader of work that only one process may do.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "leases")]
pub struct Model {
    /// The work.
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    /// The process that leads.
    pub holder: String,
    /// Until when, in the database's time.
    pub until_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
