//! Table `login_attempts`.

use sea_orm::entity::prelude::*;

use crate::Millis;

/// Recent login attempts, by IP address and by name.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "login_attempts")]
pub struct Model {
    /// The counted key: a name or an address.
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    /// The attempts in this window.
    pub tries: i32,
    /// The time at which the window ends.
    pub until_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
