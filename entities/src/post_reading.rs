//! Table `post_readings`.

use sea_orm::entity::prelude::*;

use crate::Millis;

/// The metrics of a post at one age.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "post_readings")]
pub struct Model {
    /// The row of the post's numbers.
    #[sea_orm(primary_key, auto_increment = false)]
    pub post_numbers_id: i64,
    /// The age of the post: `1h`, `6h`, `24h`, `72h` or `7d`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub checkpoint: String,
    /// The known metrics by name.
    pub numbers: Json,
    /// The time of the last reading.
    pub read_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
