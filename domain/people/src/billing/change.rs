//! Changes of a subscription by its user: show, cancel, pause, resume, change the plan.
//!
//! Each change is a call of Stripe with a purpose that follows from the request's `Idempotency-Key`, or from the row
//! before the change: after a lost response the same request makes the same call. The result is read at Stripe, as
//! after an event.

mod cancel;
mod plan;
mod portal;

pub use cancel::{Cancellation, cancel, reactivate};
use fanfare_core::{
    Act, Domain, RefusalDetails, Reply,
    access::{PlanTier, plan_name},
    audit_trail::Author,
    clock::Time,
    error::{Code, Error, Result},
    idempotency,
};
use fanfare_entities::{
    Millis, UserId, billing_subscription, billing_subscription::BillingStatus, subscription,
    workspace,
};
use fanfare_payments::{List, Request};
pub use plan::{Offer, PlanChoice, choices, keep_plan, offer, switch};
pub(super) use portal::configure as configure_portal;
pub use portal::portal;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait};
use serde::Deserialize;
use serde_json::Value;

use super::{
    call,
    calls::{self, is_recorded},
    subscriptions,
    view::{
        AnySubscription, FromOperator, GrantedPlan, OneSubscription, ShownSubscription,
        Subscription, pause_available_at,
    },
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
    /// The lower plan; the next lower one if left out. Null is none.
    #[serde(default, deserialize_with = "even_null")]
    #[schemars(schema_with = "tier")]
    pub tier: Option<Value>,
}

/// Reads a value that was sent, so that null is not taken for one that was left out.
fn even_null<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

fn tier(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"enum": TIERS.map(plan_name)})
}

const TIERS: [PlanTier; 4] =
    [PlanTier::Starter, PlanTier::Pro, PlanTier::PowerUser, PlanTier::Agency];

/// Shows the caller's subscription, or else the plan that an operator gave, or else the subscription that has ended.
///
/// # Errors
/// [`Code::NoSubscription`].
pub async fn show(act: &Act) -> Result<Reply<ShownSubscription>> {
    let person = act.caller.user_id;
    let latest = subscriptions::latest(&act.cx.db.read, person).await?;
    let is_over = latest.as_ref().is_none_or(|row| row.status == BillingStatus::Ended);
    let given = if is_over { granted(&act.cx, person).await? } else { None };
    let subscription = match (given, latest) {
        (Some(plan), _) => AnySubscription::Granted(plan),
        (None, Some(row)) => {
            let now = billing_time(&act.cx).await;
            AnySubscription::Paid(Box::new(Subscription::of(&act.cx, &row, now)))
        }
        (None, None) => return Err(no_subscription()),
    };
    Ok(Reply::ok(&ShownSubscription { subscription }))
}

/// Returns the largest plan that an operator gave to workspaces of a user.
async fn granted(cx: &Domain, person: UserId) -> Result<Option<GrantedPlan>> {
    let own = workspace::Entity::find()
        .filter(workspace::Column::OwnerId.eq(person))
        .select_only()
        .column(workspace::Column::Id)
        .into_query();
    let given = subscription::Entity::find()
        .filter(subscription::Column::WorkspaceId.in_subquery(own))
        .filter(subscription::Column::Granted.eq(true))
        .filter(subscription::Column::Active.eq(true))
        .all(&cx.db.read)
        .await?;
    let largest = given.into_iter().max_by_key(|row| row.plan_tier);
    Ok(largest.map(|row| GrantedPlan {
        source: FromOperator::Operator,
        status: BillingStatus::Active,
        plan_tier: row.plan_tier,
        api_addon: row.api_addon,
        created_at: Time(row.created_at),
    }))
}

/// Returns the time that billing goes by, in ms: ours, or the simulated Stripe account's.
async fn billing_time(cx: &Domain) -> Millis {
    let ours = cx.clock.now();
    let Some(billing) = crate::settings(cx).billing.as_ref().filter(|billing| billing.is_simulated)
    else {
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
    cx: &'a Domain,
    row: billing_subscription::Model,
    purpose: String,
    now: Millis,
    author: Author,
}

impl<'a> Change<'a> {
    async fn begin(cx: &'a Domain, person: UserId, what: &str, key: Option<&str>) -> Result<Self> {
        let row = subscriptions::live(&cx.db.write, person).await?.ok_or_else(no_subscription)?;
        let of = match key {
            Some(key) => idempotency::fingerprint(what, "", Some(&key.into())),
            None => row.revision.to_string(),
        };
        let purpose = format!("subscription:{}:{what}:{of}", row.id);
        // A key is good for a day. Sent again later it is another request, which must not get the old call's answer.
        calls::forget(cx, &purpose, cx.clock.now() - idempotency::RETENTION).await?;
        let author = Author::user(person, "");
        Ok(Self { cx, row, purpose, now: billing_time(cx).await, author })
    }

    /// Sets the caller as its author.
    fn by(self, act: &Act) -> Self {
        Self { author: Author::of(act), ..self }
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
        call(self.cx, &format!("{}:{step}", self.purpose), request).await
    }

    /// Returns true if the same request has begun this step before. It was allowed then. If its response was lost, an
    /// event may have reported its effect meanwhile, which is no reason to refuse the repetition.
    async fn has_begun(&self, step: &str) -> Result<bool> {
        is_recorded(self.cx, &format!("{}:{step}", self.purpose)).await
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

    /// Reads the result at Stripe and returns it as a reply.
    async fn finish(self) -> Result<Reply<OneSubscription>> {
        Ok(Reply::ok(&OneSubscription { subscription: self.result().await? }))
    }

    /// Reads the result at Stripe and returns it.
    async fn result(self) -> Result<Subscription> {
        let cx = self.cx;
        subscriptions::refresh_after(cx, &self.row, &self.author).await?;
        let row = subscriptions::latest(&cx.db.write, self.row.user_id)
            .await?
            .ok_or_else(no_subscription)?;
        Ok(Subscription::of(cx, &row, self.now))
    }
}

/// Pauses the caller's subscription for 30 days.
///
/// # Errors
/// [`Code::PauseCooldown`] within 90 days of the last pause, [`Code::NoSubscription`], [`Code::InvalidTransition`], or
/// [`Code::Unavailable`].
pub async fn pause(act: &Act, key: Option<&str>) -> Result<Reply<OneSubscription>> {
    let change = Change::begin(&act.cx, act.caller.user_id, "pause", key).await?.by(act);
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
    let change = Change::begin(&act.cx, act.caller.user_id, "resume", key).await?.by(act);
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
    let change = Change::begin(&act.cx, act.caller.user_id, "downgrade", key).await?.by(act);
    let tier = lower_tier(change.row.plan_tier, asked.tier.as_ref())?;
    let to = PlanChoice { tier, api_addon: change.row.api_addon };
    let subscription = plan::at_period_end(change, to).await?;
    Ok(Reply::ok(&OneSubscription { subscription }))
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

/// Returns a user's subscription for a page; `None` without one.
///
/// # Errors
/// The database's.
pub async fn subscription_of(cx: &Domain, person: UserId) -> Result<Option<Subscription>> {
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
