//! Table `account_days`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis};

/// A network's numbers for an account on one day.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "account_days")]
pub struct Model {
    /// The account.
    #[sea_orm(primary_key, auto_increment = false)]
    pub account_id: AccountId,
    /// The day in the network's zone, `YYYY-MM-DD`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub day: String,
    /// The known numbers by name.
    pub numbers: Json,
    /// The network changes them no more.
    pub is_final: bool,
    /// The number of times a known number was changed.
    pub revision: i32,
    /// The time at which they were read.
    pub read_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
