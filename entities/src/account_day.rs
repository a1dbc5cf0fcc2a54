//! Table `account_days`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis};

/// The metrics of an account on one day, as the platform reports them.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "account_days")]
pub struct Model {
    /// The account.
    #[sea_orm(primary_key, auto_increment = false)]
    pub account_id: AccountId,
    /// The day in the time zone of the platform, `YYYY-MM-DD`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub day: String,
    /// The known metrics by name.
    pub numbers: Json,
    /// True if the platform no longer changes them.
    pub is_final: bool,
    /// The number of changes of known metrics.
    pub revision: i32,
    /// The time of the last reading.
    pub read_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
