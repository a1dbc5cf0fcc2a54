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

/// The credits of a paying person. The balance of each pool is the sum of its ledger entries.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "credit_wallets")]
pub struct Model {
    /// The owner.
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: UserId,
    /// The rest of the allowance of the period.
    pub included: i64,
    /// The reserved part of the allowance of the period.
    pub included_held: i64,
    /// The allowance of the period.
    pub allowance: i64,
    /// The purchased credits.
    pub purchased: i64,
    /// All reserved credits, including those of earlier periods.
    pub held: i64,
    /// The source of the included pool.
    pub source: Option<CreditSource>,
    /// The period whose allowance was granted. Null if there is none.
    pub period: Option<String>,
    /// The time at which the last granted period of a subscription began. No earlier one is granted after it.
    pub last_start: Millis,
    /// The time at which the period ends.
    pub period_end: Millis,
    /// Increased by every change.
    pub revision: i64,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the last change.
    pub updated_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
