//! Table `first_keys`.

use sea_orm::entity::prelude::*;

use crate::{Millis, UserId};

/// Records that the first API key of a person was created on the API page, because it is created only once.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "first_keys")]
pub struct Model {
    /// The person.
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: UserId,
    /// The time of creation.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
