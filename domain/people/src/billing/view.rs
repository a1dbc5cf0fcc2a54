//! A subscription as its user sees it.

use fanfare_core::{Domain, access::PlanTier, clock::Time};
use fanfare_entities::{
    Millis, SubscriptionId, billing_subscription, billing_subscription::BillingStatus,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::change::COOLDOWN;

/// `{"subscription": …}`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneSubscription {
    /// The subscription.
    pub subscription: Subscription,
}

/// The plan that a user has: a subscription, or what an operator gave.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ShownSubscription {
    /// The plan.
    pub subscription: AnySubscription,
}

/// A subscription, or a plan that an operator gave; `source` tells which.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum AnySubscription {
    /// A subscription.
    Paid(Box<Subscription>),
    /// A plan that an operator gave.
    Granted(GrantedPlan),
}

/// Where a paid plan comes from.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum FromStripe {
    /// It was bought.
    Stripe,
}

/// Where a given plan comes from.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum FromOperator {
    /// An operator gave it.
    Operator,
}

/// A plan that an operator gave: it costs nothing, and only an operator changes it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GrantedPlan {
    /// Always `operator`.
    pub source: FromOperator,
    /// Always `active`.
    pub status: BillingStatus,
    /// The plan.
    pub plan_tier: PlanTier,
    /// True if it includes the API add-on.
    pub api_addon: bool,
    /// The time at which it was given.
    pub created_at: Time,
}

/// A user's subscription.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Subscription {
    /// Always `stripe`.
    pub source: FromStripe,
    /// The id.
    pub id: SubscriptionId,
    /// The status.
    pub status: BillingStatus,
    /// The plan.
    pub plan_tier: PlanTier,
    /// True if it includes the API add-on.
    pub api_addon: bool,
    /// The price of a period, plan and add-on together.
    pub price: SubscriptionPrice,
    /// The beginning of the period.
    pub current_period_start: Time,
    /// The end of the period.
    pub current_period_end: Time,
    /// True if it is cancelled and ends with its period, or at the date in `cancel_at`.
    pub cancel_at_period_end: bool,
    /// The time at which a cancelled subscription ends; null if it goes on.
    pub cancel_at: Option<Time>,
    /// The change at the end of the period, if any.
    pub pending_change: Option<PendingChange>,
    /// The pause, if it is paused.
    pub pause: Option<SubscriptionPause>,
    /// The earliest time of the next pause; null if it can be paused now.
    pub pause_available_at: Option<Time>,
    /// The page on which the user can change it.
    #[schemars(extend("format" = "uri"))]
    pub manage_url: String,
    /// The time at which it began.
    pub created_at: Time,
}

/// A price.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SubscriptionPrice {
    /// The amount in the currency's smallest unit.
    pub amount: i64,
    /// ISO code of the currency, in lower case.
    pub currency: String,
    /// Always `month`.
    pub interval: &'static str,
}

/// A change of plan at the end of a period.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PendingChange {
    /// The plan it changes to.
    pub plan_tier: PlanTier,
    /// True if it includes the API add-on then.
    pub api_addon: bool,
    /// The time at which it changes.
    pub effective_at: Time,
}

/// A pause.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SubscriptionPause {
    /// The time at which it began.
    pub paused_at: Time,
    /// The time at which it ends by itself.
    pub resumes_at: Option<Time>,
}

impl Subscription {
    /// Converts a row to a subscription as replies show it; `now` is the time that billing goes by.
    pub(super) fn of(cx: &Domain, row: &billing_subscription::Model, now: Millis) -> Self {
        let is_paused = row.status == BillingStatus::Paused;
        let pending = row.pending_tier.zip(row.pending_at);
        Self {
            source: FromStripe::Stripe,
            id: row.id,
            status: row.status,
            plan_tier: row.plan_tier,
            api_addon: row.api_addon,
            price: SubscriptionPrice {
                amount: row.amount,
                currency: row.currency.clone(),
                interval: "month",
            },
            current_period_start: Time(row.period_start),
            current_period_end: Time(row.period_end),
            cancel_at_period_end: row.status == BillingStatus::Canceling,
            cancel_at: (row.status == BillingStatus::Canceling)
                .then(|| Time(row.cancel_at.unwrap_or(row.period_end))),
            pending_change: pending.map(|(plan_tier, at)| PendingChange {
                plan_tier,
                api_addon: row.pending_api_addon.unwrap_or(row.api_addon),
                effective_at: Time(at),
            }),
            pause: row.paused_at.filter(|_| is_paused).map(|at| SubscriptionPause {
                paused_at: Time(at),
                resumes_at: row.resumes_at.map(Time),
            }),
            pause_available_at: pause_available_at(row).filter(|at| *at > now).map(Time),
            manage_url: format!("{}/dashboard/billing", cx.settings.base_url),
            created_at: Time(row.created_at),
        }
    }
}

/// Returns when a subscription can be paused again.
pub(super) fn pause_available_at(row: &billing_subscription::Model) -> Option<Millis> {
    row.last_paused_at.map(|at| at + COOLDOWN)
}
