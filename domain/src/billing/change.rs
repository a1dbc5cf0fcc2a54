//! Changes of a subscription by its user: show, cancel, pause, resume, downgrade.
//!
//! Each change is a call of Stripe with a purpose that follows from the request's `Idempotency-Key`, or from the row
//! before the change: after a lost response the same request makes the same call. The result is read at Stripe, as
//! after an event.

mod cancel;

pub use cancel::{Cancellation, cancel};
use fanfare_entities::{Millis, billing_subscription, billing_subscription::BillingStatus};
use fanfare_payments::{self as payments, List, Request, Schedule};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{
    call,
    calls::is_recorded,
    lookup, read, stripe_error, subscriptions,
    view::{OneSubscription, Subscription, pause_available_at},
};
use crate::{
    Act, Domain, RefusalDetails, Reply,
    access::{PlanTier, plan_name},
    clock::Time,
    error::{Code, Error, Result},
    idempotency,
};

const DAY: Millis = 24 * 3_600_000;

/// The length of a pause, in ms.
const PAUSE: Millis = 30 * DAY;

/// The minimum time from the start of one pause to the next, in ms.
pub(super) const COOLDOWN: Millis = 90 * DAY;

/// A downgrade.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Downgrade {
    /// The lower plan; the next lower one if left out.
    #[serde(default)]
    #[schemars(schema_with = "tier")]
    pub tier: Option<Value>,
}

fn tier(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"enum": TIERS.map(plan_name)})
}

const TIERS: [PlanTier; 4] =
    [PlanTier::Starter, PlanTier::Pro, PlanTier::PowerUser, PlanTier::Agency];

/// Shows the caller's subscription, or the last one if it has ended.
///
/// # Errors
/// [`Code::NoSubscription`].
pub async fn show(act: &Act) -> Result<Reply<OneSubscription>> {
    let latest = subscriptions::latest(&act.cx.db.read, act.caller.user_id).await?;
    let row = latest.ok_or_else(no_subscription)?;
    let subscription = Subscription::of(&act.cx, &row, billing_time(&act.cx).await);
    Ok(Reply::ok(&OneSubscription { subscription }))
}

/// Returns the time that billing goes by, in ms: ours, or the simulated Stripe account's.
async fn billing_time(cx: &Domain) -> Millis {
    let ours = cx.clock.now();
    let Some(billing) = cx.settings.billing.as_ref().filter(|billing| billing.is_simulated) else {
        return ours;
    };
    // Every response reports the account's time.
    let asked = Request::get("products").with("limit", "1");
    match billing.stripe.read::<List<Value>>(&asked).await {
        Ok(_) => billing.stripe.time().map_or(ours, |seconds| seconds * 1_000),
        Err(_) => ours,
    }
}

/// Returns the name of a status, as replies show it.
#[must_use]
pub const fn status_name(status: BillingStatus) -> &'static str {
    match status {
        BillingStatus::Incomplete => "incomplete",
        BillingStatus::Active => "active",
        BillingStatus::PastDue => "past_due",
        BillingStatus::Paused => "paused",
        BillingStatus::Canceling => "canceling",
        BillingStatus::Ended => "ended",
    }
}

fn no_subscription() -> Error {
    Error::new(Code::NoSubscription, "You have no subscription.")
}

/// A change of a subscription that is allowed to start.
struct Change<'a> {
    act: &'a Act,
    row: billing_subscription::Model,
    purpose: String,
    now: Millis,
}

impl<'a> Change<'a> {
    async fn begin(act: &'a Act, what: &str, key: Option<&str>) -> Result<Self> {
        let cx = &act.cx;
        let row = subscriptions::live(&cx.db.write, act.caller.user_id)
            .await?
            .ok_or_else(no_subscription)?;
        let of = match key {
            Some(key) => idempotency::fingerprint(what, "", key.as_bytes()),
            None => row.revision.to_string(),
        };
        let purpose = format!("subscription:{}:{what}:{of}", row.id);
        Ok(Self { act, row, purpose, now: billing_time(cx).await })
    }

    fn path(&self) -> String {
        format!("subscriptions/{}", self.row.stripe_id)
    }

    /// Makes the call of one step.
    async fn call<T: serde::de::DeserializeOwned>(
        &self,
        step: &str,
        request: &Request,
    ) -> Result<T> {
        call(&self.act.cx, &format!("{}:{step}", self.purpose), request).await
    }

    /// Returns true if the same request has begun this step before. It was allowed then. If its response was lost, an
    /// event may have reported its effect meanwhile, which is no reason to refuse the repetition.
    async fn has_begun(&self, step: &str) -> Result<bool> {
        is_recorded(&self.act.cx, &format!("{}:{step}", self.purpose)).await
    }

    /// Fails unless the subscription has one of these statuses and no pending change.
    fn require(&self, statuses: &[BillingStatus], what: &str) -> Result<()> {
        if statuses.contains(&self.row.status) {
            return Ok(());
        }
        Err(self.refused(what))
    }

    fn refused(&self, what: &str) -> Error {
        let row = &self.row;
        let allowed: &'static [&'static str] = match row.status {
            BillingStatus::Active if row.pending_tier.is_some() => &["cancel", "downgrade"],
            BillingStatus::Active => &["cancel", "pause", "downgrade"],
            BillingStatus::PastDue | BillingStatus::Canceling => &["cancel"],
            BillingStatus::Paused => &["resume"],
            BillingStatus::Incomplete | BillingStatus::Ended => &[],
        };
        let status = status_name(row.status);
        let message = format!("A subscription that is {status} cannot be {what}.");
        Error::new(Code::InvalidTransition, message).with_state(status, allowed)
    }

    /// Releases the schedule that manages the subscription.
    async fn release_schedule(&self) -> Result<()> {
        let Some(schedule) = &self.row.schedule_id else { return Ok(()) };
        let release = Request::post(format!("subscription_schedules/{schedule}/release"));
        let _: Value = self.call("release", &release).await?;
        Ok(())
    }

    /// Reads the result at Stripe and returns it.
    async fn finish(self) -> Result<Reply<OneSubscription>> {
        let cx = &self.act.cx;
        subscriptions::refresh(cx, &self.row.stripe_id).await?;
        let row = subscriptions::latest(&cx.db.write, self.row.user_id)
            .await?
            .ok_or_else(no_subscription)?;
        let subscription = Subscription::of(cx, &row, self.now);
        Ok(Reply::ok(&OneSubscription { subscription }))
    }
}

/// Pauses the caller's subscription for 30 days.
///
/// # Errors
/// [`Code::PauseCooldown`] within 90 days of the last pause, [`Code::NoSubscription`], [`Code::InvalidTransition`], or
/// [`Code::Unavailable`].
pub async fn pause(act: &Act, key: Option<&str>) -> Result<Reply<OneSubscription>> {
    let change = Change::begin(act, "pause", key).await?;
    if !change.has_begun("pause").await? {
        check_cooldown(&change)?;
    }
    let until = ((change.now + PAUSE) / 1_000).to_string();
    let pause = Request::post(change.path())
        .with("pause_collection[behavior]", "void")
        .with("pause_collection[resumes_at]", until);
    let _: Value = change.call("pause", &pause).await?;
    change.finish().await
}

fn check_cooldown(change: &Change<'_>) -> Result<()> {
    if let Some(at) = pause_available_at(&change.row).filter(|at| *at > change.now) {
        let seconds = u64::try_from((at - change.now) / 1_000 + 1).unwrap_or(1);
        let message = "The subscription was paused less than 90 days ago.";
        return Err(Error::new(Code::PauseCooldown, message)
            .with_details(RefusalDetails {
                available_at: Some(Time(at)),
                ..RefusalDetails::default()
            })
            .with_retry_after(seconds));
    }
    if change.row.pending_tier.is_some() {
        return Err(change.refused("paused while a change is ahead"));
    }
    change.require(&[BillingStatus::Active], "paused")
}

/// Ends the pause of the caller's subscription.
///
/// # Errors
/// [`Code::NoSubscription`], [`Code::InvalidTransition`], or [`Code::Unavailable`].
pub async fn resume(act: &Act, key: Option<&str>) -> Result<Reply<OneSubscription>> {
    let change = Change::begin(act, "resume", key).await?;
    if !change.has_begun("resume").await? {
        change.require(&[BillingStatus::Paused], "resumed")?;
    }
    let resume = Request::post(change.path()).with("pause_collection", "");
    let _: Value = change.call("resume", &resume).await?;
    change.finish().await
}

/// Moves the caller's subscription to a lower plan when its period ends, without proration.
///
/// # Errors
/// [`Code::InvalidTier`], [`Code::NoLowerTier`], [`Code::NoSubscription`], [`Code::InvalidTransition`], or [`Code::Unavailable`].
pub async fn downgrade(
    act: &Act,
    asked: Downgrade,
    key: Option<&str>,
) -> Result<Reply<OneSubscription>> {
    let change = Change::begin(act, "downgrade", key).await?;
    let tier = lower_tier(change.row.plan_tier, asked.tier.as_ref())?;
    change.require(&[BillingStatus::Active], "downgraded")?;
    let cx = &act.cx;
    let theirs: payments::Subscription = read(cx, &change.path()).await?;
    let schedule: Schedule = match &theirs.schedule {
        Some(id) => read(cx, &format!("subscription_schedules/{id}")).await?,
        None => {
            let from = Request::post("subscription_schedules");
            change.call("schedule", &from.with("from_subscription", &theirs.id)).await?
        }
    };
    let now = schedule.phases.first().ok_or_else(|| Error::internal("a schedule has no phase"))?;
    let keys = cx.settings.plans.lookup_keys(tier, change.row.api_addon);
    let mut update = Request::post(format!("subscription_schedules/{}", schedule.id))
        .with("end_behavior", "release")
        .with("phases[0][start_date]", now.start_date.to_string())
        .with("phases[0][end_date]", now.end_date.to_string())
        .with("phases[1][proration_behavior]", "none");
    for (place, item) in theirs.items.data.iter().enumerate() {
        update = update.with(format!("phases[0][items][{place}][price]"), &item.price.id);
    }
    for (place, price) in lookup(cx, &keys).await?.iter().enumerate() {
        update = update.with(format!("phases[1][items][{place}][price]"), price);
    }
    let step = format!("to_{}", plan_name(tier));
    let _: Value = change.call(&step, &update).await?;
    change.finish().await
}

/// Returns the requested plan, if it is lower than the current one.
fn lower_tier(from: PlanTier, asked: Option<&Value>) -> Result<PlanTier> {
    let Some(asked) = asked else {
        let next = TIERS.into_iter().rev().find(|tier| *tier < from);
        return next.ok_or_else(|| {
            Error::new(Code::NoLowerTier, "There is no plan below starter; cancel in its place.")
        });
    };
    let named = TIERS.into_iter().find(|tier| asked.as_str() == Some(plan_name(*tier)));
    named.filter(|tier| *tier < from).ok_or_else(|| {
        let message = format!("tier must be a plan below {}.", plan_name(from));
        Error::new(Code::InvalidTier, message)
    })
}

/// Creates a session of Stripe's customer portal (cards, invoices, tax data) and returns its address.
///
/// # Errors
/// [`Code::NoSubscription`], or [`Code::Unavailable`].
pub async fn portal(cx: &Domain, person: fanfare_entities::UserId) -> Result<String> {
    let latest = subscriptions::latest(&cx.db.read, person).await?.ok_or_else(no_subscription)?;
    let stripe = &cx.settings.require_billing()?.stripe;
    // It changes no stored data, so it needs no row.
    let open = Request::post("billing_portal/sessions")
        .with("customer", latest.customer_id)
        .with("return_url", format!("{}/dashboard/billing", cx.settings.base_url));
    let opened: Value = stripe.send(&open, None).await.map_err(|failure| stripe_error(&failure))?;
    let url = opened["url"].as_str().map(str::to_owned);
    url.ok_or_else(|| Error::internal("a session of the portal has no address"))
}

/// Returns a user's subscription for a page; `None` without one.
///
/// # Errors
/// The database's.
pub async fn subscription_of(
    cx: &Domain,
    person: fanfare_entities::UserId,
) -> Result<Option<Subscription>> {
    let latest = subscriptions::latest(&cx.db.read, person).await?;
    let Some(row) = latest else { return Ok(None) };
    Ok(Some(Subscription::of(cx, &row, billing_time(cx).await)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_downgrade_goes_down() {
        assert_eq!(lower_tier(PlanTier::Pro, None).unwrap(), PlanTier::Starter);
        assert_eq!(lower_tier(PlanTier::Agency, None).unwrap(), PlanTier::PowerUser);
        assert_eq!(lower_tier(PlanTier::Starter, None).unwrap_err().code(), Code::NoLowerTier);
        let to = |from, tier: Value| lower_tier(from, Some(&tier));
        assert_eq!(to(PlanTier::Agency, json!("starter")).unwrap(), PlanTier::Starter);
        for tier in [json!("pro"), json!("agency"), json!("gold"), json!(7), json!(null)] {
            assert_eq!(
                to(PlanTier::Pro, tier.clone()).unwrap_err().code(),
                Code::InvalidTier,
                "{tier}"
            );
        }
    }
}
