//! Table `user_sessions`.

use sea_orm::entity::prelude::*;

use crate::{Millis, UserId};

/// A person's login session.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "user_sessions")]
pub struct Model {
    /// The SHA-256 hash of the token in the cookie.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    /// The user.
    pub user_id: UserId,
    /// The time at which it began.
    pub created_at: Millis,
    /// The time at which the person last gave the password again.
    pub confirmed_at: Option<Millis>,
    /// The time at which it ends.
    pub expires_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
