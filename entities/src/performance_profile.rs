//! Table `performance_profiles`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis};

/// The performance profile of an account.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "performance_profiles")]
pub struct Model {
    /// The account.
    #[sea_orm(primary_key, auto_increment = false)]
    pub account_id: AccountId,
    /// The profile as replies show it.
    pub profile: Json,
    /// The time at which it was derived.
    pub derived_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
