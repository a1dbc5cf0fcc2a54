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
    /// The first payment has not arrived yet.
    Incomplete,
    /// The subscription is paid.
    Active,
    /// A payment failed and is retried.
    PastDue,
    /// The subscription is paused, and nothing is charged.
    Paused,
    /// The subscription ends at the end of the period.
    Canceling,
    /// The subscription has ended.
    Ended,
}

/// A person's subscription, as Stripe last reported it. A person has at most one that has not ended.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "billing_subscriptions")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: SubscriptionId,
    /// The owner.
    pub user_id: UserId,
    /// Stripe's id.
    pub stripe_id: String,
    /// Stripe's id of the customer.
    pub customer_id: String,
    /// The status.
    pub status: BillingStatus,
    /// The plan.
    pub plan_tier: PlanTier,
    /// True if it includes the API add-on.
    pub api_addon: bool,
    /// The price of a period, in the smallest unit of the currency.
    pub amount: i64,
    /// The currency.
    pub currency: String,
    /// The time at which the period began.
    pub period_start: Millis,
    /// The time at which the period ends.
    pub period_end: Millis,
    /// The id of the Stripe schedule, while one manages the subscription.
    pub schedule_id: Option<String>,
    /// The plan that it changes to.
    pub pending_tier: Option<PlanTier>,
    /// True if the plan that it changes to includes the API add-on.
    pub pending_api_addon: Option<bool>,
    /// The time of the change of plan.
    pub pending_at: Option<Millis>,
    /// The time at which a cancelled subscription ends.
    pub cancel_at: Option<Millis>,
    /// The start of the current pause.
    pub paused_at: Option<Millis>,
    /// The time at which the current pause ends automatically.
    pub resumes_at: Option<Millis>,
    /// The start of the last pause.
    pub last_paused_at: Option<Millis>,
    /// Increased by every change. Data that was read from Stripe before the last change is not written.
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
