//! Table `api_processes`.

use sea_orm::entity::prelude::*;

use crate::Millis;

/// A process that answers requests. One that has not been seen for a while is dead.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "api_processes")]
pub struct Model {
    /// Its id, made at its start.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The time at which it last said that it is alive.
    pub seen_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
