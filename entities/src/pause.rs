//! Table `pauses`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis, PauseId};

/// A pause of publishing by an operator.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "pauses")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: PauseId,
    /// The platform; null with `account_id` null: everything.
    pub platform: Option<String>,
    /// The account.
    pub account_id: Option<AccountId>,
    /// The reason that was given.
    pub reason: String,
    /// The operator who paused.
    pub operator: String,
    /// The start of the pause.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
