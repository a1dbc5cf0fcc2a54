//! Table `password_links`.

use sea_orm::entity::prelude::*;

use crate::{Millis, UserId};

/// The purpose of a link that sets a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
pub enum LinkKind {
    /// The first password after a signup.
    Set,
    /// A new password for a person who has forgotten it.
    Reset,
}

/// A link in an e-mail with which a password can be set once.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "password_links")]
pub struct Model {
    /// The SHA-256 hash of the token in the link.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    /// The user whose password it sets.
    pub user_id: UserId,
    /// The purpose.
    pub kind: LinkKind,
    /// The path that it leads to afterwards.
    pub next: String,
    /// The time of creation.
    pub created_at: Millis,
    /// The time at which it ends.
    pub expires_at: Millis,
    /// The time at which it was used, or ended by a newer one.
    pub used_at: Option<Millis>,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
