//! Table `users`.

use sea_orm::entity::prelude::*;

use crate::{Millis, UserId};

/// A person.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "users")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: UserId,
    /// The e-mail address in lower case. Unique.
    pub email: String,
    /// The display name.
    pub name: String,
    /// The time of creation.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
