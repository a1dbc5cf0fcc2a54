//! Table `slot_grids`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis};

/// The times of day at which an account likes to post.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "slot_grids")]
pub struct Model {
    /// The account.
    #[sea_orm(primary_key, auto_increment = false)]
    pub account_id: AccountId,
    /// `HH:MM`, ascending.
    pub times: Json,
    /// Names of weekdays.
    pub days: Json,
    /// The zone the times are in; null: the workspace's.
    pub timezone: Option<String>,
    /// The time at which it was last set.
    pub updated_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
