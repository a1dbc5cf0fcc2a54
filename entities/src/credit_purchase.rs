//! Table `credit_purchases`.

use sea_orm::entity::prelude::*;

use crate::{Millis, UserId};

/// A purchase of a credit pack.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "credit_purchases")]
pub struct Model {
    /// Stripe's id of the payment.
    #[sea_orm(primary_key, auto_increment = false)]
    pub payment_intent: String,
    /// The buyer.
    pub user_id: UserId,
    /// The number of credits.
    pub credits: i64,
    /// The number of credits that refunds and disputes withdraw.
    pub withdrawn: i64,
    /// The number of these that the wallet had, and gets back if they are not withdrawn any more.
    pub taken: i64,
    /// The time at which it was credited.
    pub created_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
