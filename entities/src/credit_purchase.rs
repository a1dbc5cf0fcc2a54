//! Table `credit_purchases`.

use sea_orm::entity::prelude::*;

use crate::{Millis, UserId};

/// A pack of credits that was paid for.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "credit_purchases")]
pub struct Model {
    /// Stripe's id of the payment.
    #[sea_orm(primary_key, auto_increment = false)]
    pub payment_intent: String,
    /// Who bought it.
    pub user_id: UserId,
    /// How many credits.
    pub credits: i64,
    /// How many of them refunds and disputes have taken back.
    pub withdrawn: i64,
    /// When it was credited.
    pub created_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
