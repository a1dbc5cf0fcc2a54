//! Table `credit_wallets`.

use sea_orm::entity::prelude::*;

use crate::{Millis, UserId};

/// The source of the included pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
pub enum CreditSource {
    /// A subscription, with each paid invoice.
    Subscription,
    /// A plan that an operator granted, every month.
    Operator,
}

/// The credits of a person who pays. The ledger's sum of each pool is the pool's balance.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "credit_wallets")]
pub struct Model {
    /// Returns the DID of its owner.
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: UserId,
    /// The rest of the period's allowance.
    pub included: i64,
    /// The reserved part of the period's allowance.
    pub included_held: i64,
    /// The period's allowance.
    pub allowance: i64,
    /// Bought credits.
    pub purchased: i64,
    /// All reserved credits, of earlier periods too.
    pub held: i64,
    /// The source of the included pool.
    pub source: Option<CreditSource>,
    /// The period whose allowance was granted; null while there is none.
    pub period: Option<String>,
    /// The time at which the last granted period of a subscription began. No earlier one is granted after it.
    pub last_start: Millis,
    /// The time at which the period ends.
    pub period_end: Millis,
    /// Raised by every change.
    pub revision: i64,
    /// The time at which it was made.
    pub created_at: Millis,
    /// The time at which it was last changed.
    pub updated_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
