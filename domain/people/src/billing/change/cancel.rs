//! Cancels a subscription, at the end of its period or at once.

use fanfare_core::{
    Act, Domain, Reply,
    error::{Code, Error, Result},
};
use fanfare_entities::{UserId, billing_subscription, billing_subscription::BillingStatus};
use fanfare_payments::{self as payments, Request};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Change, billing_time};
use crate::billing::{
    calls::is_any_recorded,
    read, subscriptions,
    view::{OneSubscription, Subscription},
};

/// The reasons for a cancellation, and Stripe's words for them.
const REASONS: [(&str, &str); 7] = [
    ("too_expensive", "too_expensive"),
    ("not_using", "unused"),
    ("missing_features", "missing_features"),
    ("technical_issues", "low_quality"),
    ("switching_service", "switched_service"),
    ("temporary_break", "other"),
    ("other", "other"),
];

/// A cancellation.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["reason"]))]
pub struct Cancellation {
    /// The reason: `too_expensive`, `not_using`, `missing_features`, `technical_issues`, `switching_service`, `temporary_break` or `other`.
    #[serde(default)]
    #[schemars(schema_with = "reason")]
    pub reason: Value,
    /// A comment of the user.
    #[serde(default)]
    #[schemars(length(max = 1_000))]
    pub feedback: Option<String>,
    /// Ends it now and without a refund, in place of the end of the period.
    #[serde(default)]
    pub immediate: bool,
}

fn reason(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let names: Vec<_> = REASONS.iter().map(|(name, _)| *name).collect();
    schemars::json_schema!({"enum": names, "x-own-code": true})
}

/// Cancels the caller's subscription, at the end of its period or at once.
///
/// # Errors
/// [`Code::InvalidReason`], [`Code::NoSubscription`], [`Code::InvalidTransition`], or [`Code::Unavailable`].
pub async fn cancel(
    act: &Act,
    asked: Cancellation,
    key: Option<&str>,
) -> Result<Reply<OneSubscription>> {
    let named = asked.reason.as_str();
    let reason = REASONS.iter().find(|(name, _)| named == Some(*name));
    let (_, feedback) = reason.ok_or_else(|| {
        let names = REASONS.map(|(name, _)| name).join(", ");
        Error::new(Code::InvalidReason, format!("reason must be one of {names}."))
    })?;
    if asked.immediate
        && let Some(row) = cancelled_at_once(act).await?
    {
        let subscription = Subscription::of(&act.cx, &row, billing_time(&act.cx).await);
        return Ok(Reply::ok(&OneSubscription { subscription }));
    }
    let change = Change::begin(&act.cx, act.caller.user_id, "cancel", key).await?.by(act);
    let explained = |request: Request| {
        let request = request.with("cancellation_details[feedback]", *feedback);
        match &asked.feedback {
            Some(words) => request.with("cancellation_details[comment]", words),
            None => request,
        }
    };
    if asked.immediate {
        let _: Value = change.call("now", &explained(Request::delete(change.path()))).await?;
        return change.finish().await;
    }
    if change.row.status == BillingStatus::Canceling {
        return change.finish().await;
    }
    change.require(&[BillingStatus::Active, BillingStatus::PastDue], "cancelled")?;
    change.release_schedule().await?;
    let end = Request::post(change.path()).with("cancel_at_period_end", "true");
    let _: Value = change.call("end", &explained(end)).await?;
    change.finish().await
}

/// Takes back a cancellation at the end of the period, or at a date that was set at Stripe.
///
/// # Errors
/// [`Code::NoSubscription`], [`Code::InvalidTransition`], or Stripe's.
pub async fn reactivate(cx: &Domain, person: UserId, key: &str) -> Result<Subscription> {
    let change = Change::begin(cx, person, "reactivate", Some(key)).await?;
    if change.row.status == BillingStatus::Active {
        return change.result().await;
    }
    change.require(&[BillingStatus::Canceling], "reactivated")?;
    let theirs: payments::Subscription = read(cx, &change.path()).await?;
    let again = if theirs.cancel_at_period_end {
        Request::post(change.path()).with("cancel_at_period_end", "false")
    } else {
        Request::post(change.path()).with("cancel_at", "")
    };
    let _: Value = change.call("again", &again).await?;
    change.result().await
}

/// Returns the caller's subscription if an immediate cancellation has ended it: if the response was lost, the repeated
/// request gets the same reply.
async fn cancelled_at_once(act: &Act) -> Result<Option<billing_subscription::Model>> {
    let cx = &act.cx;
    let latest = subscriptions::latest(&cx.db.write, act.caller.user_id).await?;
    let Some(ended) = latest.filter(|row| row.status == BillingStatus::Ended) else {
        return Ok(None);
    };
    let calls = format!("subscription:{}:cancel:%:now", ended.id);
    Ok(is_any_recorded(cx, &calls).await?.then_some(ended))
}
