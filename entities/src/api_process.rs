//! Table `api_processes`.

use sea_orm::entity::prelude::*;

use crate::Millis;

/// An API process. One that has not reported for a while is considered dead.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "api_processes")]
pub struct Model {
    /// The id, which is created at startup.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The time of the last heartbeat.
    pub seen_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
