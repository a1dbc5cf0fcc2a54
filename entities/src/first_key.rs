//! Table `first_keys`.

use sea_orm::entity::prelude::*;

use crate::{Millis, UserId};

/// Says that a person's first key was made on the API page; it is made once.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "first_keys")]
pub struct Model {
    /// The person.
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: UserId,
    /// The time of the action.
    pub created_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
