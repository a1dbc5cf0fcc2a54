//! Table `slot_grids`.

use sea_orm::entity::prelude::*;

use crate::{AccountId, Millis};

/// The posting times of an account.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "slot_grids")]
pub struct Model {
    /// The account.
    #[sea_orm(primary_key, auto_increment = false)]
    pub account_id: AccountId,
    /// `HH:MM`, ascending.
    pub times: Json,
    /// The names of weekdays.
    pub days: Json,
    /// The time zone of the times. Null for the time zone of the workspace.
    pub timezone: Option<String>,
    /// The time at which it was last set.
    pub updated_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
