//! A subscription as its person sees it.

use fanfare_entities::{Millis, billing_subscription, billing_subscription::BillingStatus};
use sea_orm::ActiveEnum;
use serde_json::{Value, json};

use super::change::COOLDOWN;
use crate::{Domain, access::plan_name, clock::show};

/// Returns the record of a subscription; `now` is the time by which it is paid.
pub(super) fn view(cx: &Domain, row: &billing_subscription::Model, now: Millis) -> Value {
    let pending = row.pending_tier.zip(row.pending_at);
    let is_paused = row.status == BillingStatus::Paused;
    let pause = row.paused_at.filter(|_| is_paused);
    json!({"subscription": {
        "id": row.id,
        "status": row.status.to_value(),
        "plan_tier": plan_name(row.plan_tier),
        "api_addon": row.api_addon,
        "price": {"amount": row.amount, "currency": row.currency, "interval": "month"},
        "current_period_start": show(row.period_start),
        "current_period_end": show(row.period_end),
        "cancel_at_period_end": row.status == BillingStatus::Canceling,
        "pending_change": pending.map(|(tier, at)| {
            json!({"plan_tier": plan_name(tier), "effective_at": show(at)})
        }),
        "pause": pause.map(|at| {
            json!({"paused_at": show(at), "resumes_at": row.resumes_at.map(show)})
        }),
        "pause_available_at": pause_available_at(row).filter(|at| *at > now).map(show),
        "manage_url": format!("{}/dashboard/billing", cx.settings.base_url),
        "created_at": show(row.created_at),
    }})
}

/// Returns when a subscription may be paused again.
pub(super) fn pause_available_at(row: &billing_subscription::Model) -> Option<Millis> {
    row.last_paused_at.map(|at| at + COOLDOWN)
}
