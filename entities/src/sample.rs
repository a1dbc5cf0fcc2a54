//! Table `samples`.

use sea_orm::entity::prelude::*;

use crate::Millis;

/// A count of one minute; see `domain::ops::samples`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "samples")]
pub struct Model {
    /// Beginning of the minute.
    #[sea_orm(primary_key, auto_increment = false)]
    pub minute: Millis,
    /// Kind of work.
    #[sea_orm(primary_key, auto_increment = false)]
    pub kind: String,
    /// Platform; empty for work that has none.
    #[sea_orm(primary_key, auto_increment = false)]
    pub platform: String,
    /// The measure.
    #[sea_orm(primary_key, auto_increment = false)]
    pub measure: String,
    /// The count.
    pub n: i64,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
