//! Table `billing_subscriptions`.

use schemars::JsonSchema;
use sea_orm::entity::prelude::*;
use serde::Serialize;

use crate::{Millis, SubscriptionId, UserId, subscription::PlanTier};

/// The status of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize, JsonSchema)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum BillingStatus {
    /// Its first payment is not there yet.
    Incomplete,
    /// It is paid.
    Active,
    /// A payment failed and is tried again.
    PastDue,
    /// The subscription is paused: nothing is collected.
    Paused,
    /// It ends with its period.
    Canceling,
    /// It has ended.
    Ended,
}

/// A person's subscription, as Stripe last said it. A person has one that has not ended.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "billing_subscriptions")]
pub struct Model {
    /// Its id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: SubscriptionId,
    /// Returns the DID of its owner.
    pub user_id: UserId,
    /// Stripe's id.
    pub stripe_id: String,
    /// Stripe's id of the customer.
    pub customer_id: String,
    /// The status.
    pub status: BillingStatus,
    /// The plan.
    pub plan_tier: PlanTier,
    /// Has it the API add-on?
    pub api_addon: bool,
    /// The price of a period, in the currency's smallest unit.
    pub amount: i64,
    /// The currency.
    pub currency: String,
    /// The time at which the period began.
    pub period_start: Millis,
    /// The time at which the period ends.
    pub period_end: Millis,
    /// Stripe's schedule, while it manages the subscription.
    pub schedule_id: Option<String>,
    /// The plan it moves to.
    pub pending_tier: Option<PlanTier>,
    /// The time at which it moves.
    pub pending_at: Option<Millis>,
    /// The time at which its pause began, while it is paused.
    pub paused_at: Option<Millis>,
    /// The time at which its pause ends by itself.
    pub resumes_at: Option<Millis>,
    /// The time at which its last pause began.
    pub last_paused_at: Option<Millis>,
    /// Raised by every change: what was read at Stripe before the last one is not written.
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
