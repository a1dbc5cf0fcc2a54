//! Table `samples`.

use sea_orm::entity::prelude::*;

use crate::Millis;

/// A count of one minute; see `domain::ops::samples`.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "samples")]
pub struct Model {
    /// The start of the minute.
    #[sea_orm(primary_key, auto_increment = false)]
    pub minute: Millis,
    /// The kind of job.
    #[sea_orm(primary_key, auto_increment = false)]
    pub kind: String,
    /// The platform. Empty for jobs without one.
    #[sea_orm(primary_key, auto_increment = false)]
    pub platform: String,
    /// The measure.
    #[sea_orm(primary_key, auto_increment = false)]
    pub measure: String,
    /// The count.
    pub n: i64,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
