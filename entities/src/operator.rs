//! Table `operators`.

use sea_orm::entity::prelude::*;

use crate::{Millis, OperatorId};

/// A person who runs the service; not one of its users.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "operators")]
pub struct Model {
    /// Its id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: OperatorId,
    /// Lower-case address, unique.
    pub email: String,
    /// argon2id, as a PHC string.
    pub password_hash: String,
    /// The time at which it was made.
    pub created_at: Millis,
    /// The time at which the password was last set.
    pub updated_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
