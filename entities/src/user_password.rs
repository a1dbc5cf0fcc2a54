//! Table `user_passwords`.

use sea_orm::entity::prelude::*;

use crate::{Millis, UserId};

/// A person's password.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "user_passwords")]
pub struct Model {
    /// The user.
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: UserId,
    /// The argon2id hash, as a PHC string.
    pub password_hash: String,
    /// The time at which it was last set.
    pub updated_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
