//! Table `performance_profiles`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis};

/// An account's strengths.
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

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
