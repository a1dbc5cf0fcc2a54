//! Changes of the plan. A dearer one counts now, and its difference is paid now; a cheaper one counts from the next
//! period on.

use fanfare_core::{
    Domain,
    access::plan_name,
    error::{Code, Error, Result},
};
use fanfare_entities::{Millis, UserId, billing_subscription::BillingStatus};
use fanfare_payments::{self as payments, Request, Schedule};
use serde_json::Value;

use super::{Change, TIERS};
use crate::billing::{
    SoldPlan, Subscription, lookup, read, setup::prices, sold::Products, stripe_error,
};

/// A plan, with or without the API add-on.
pub type PlanChoice = SoldPlan;

/// A plan that can be changed to, and what that costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The plan.
    pub plan: PlanChoice,
    /// The price of a month, in the currency's smallest unit.
    pub monthly: i64,
    /// The currency, as an ISO code in lower case.
    pub currency: String,
    /// What is due now for the rest of the period; `None` for a plan that begins with the next period.
    pub due_now: Option<i64>,
    /// The time at which it counts.
    pub from: Millis,
}

/// Returns every plan with and without the add-on, with its price, from the cheapest.
#[must_use]
pub fn choices(cx: &Domain) -> Vec<(PlanChoice, i64)> {
    let plans = &crate::settings(cx).plans;
    let all = TIERS.into_iter().flat_map(|tier| {
        [false, true]
            .map(|api_addon| (PlanChoice { tier, api_addon }, plans.price_of(tier, api_addon)))
    });
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|(plan, price)| (*price, plan.tier));
    all
}

/// Returns what a change to a plan costs, as Stripe will charge it.
///
/// # Errors
/// As [`switch`]; nothing is changed.
pub async fn offer(cx: &Domain, person: UserId, plan: PlanChoice) -> Result<Offer> {
    let change = Change::begin(cx, person, "plan", None).await?;
    check(&change, plan)?;
    let sold =
        prices(cx, &crate::settings(cx).plans.lookup_keys(plan.tier, plan.api_addon)).await?;
    let currency = change.row.currency.clone();
    let monthly = sold.values().filter_map(|price| price.unit_amount).sum();
    if !is_dearer(cx, &change, plan) {
        return Ok(Offer { plan, monthly, currency, due_now: None, from: change.row.period_end });
    }
    let theirs: payments::Subscription = read(cx, &change.path()).await?;
    let mut preview = Request::post("invoices/create_preview")
        .with("subscription", &theirs.id)
        .with("subscription_details[proration_behavior]", "always_invoice");
    for (name, value) in item_changes(cx, &theirs, plan).await? {
        preview = preview.with(format!("subscription_details[items]{name}"), value);
    }
    let stripe = &crate::settings(cx).require_billing()?.stripe;
    // It changes nothing at Stripe, so it needs no row.
    let invoice: payments::Preview =
        stripe.send(&preview, None).await.map_err(|failure| stripe_error(&failure))?;
    Ok(Offer { plan, monthly, currency, due_now: Some(invoice.amount_due), from: change.now })
}

/// Changes the plan: a dearer one now, and its difference is paid now; a cheaper one at the end of the period.
///
/// # Errors
/// [`Code::InvalidTier`] for the plan that the user has, [`Code::NoSubscription`], [`Code::InvalidTransition`], or
/// Stripe's: if the payment fails nothing is changed.
pub async fn switch(
    cx: &Domain,
    person: UserId,
    plan: PlanChoice,
    key: &str,
) -> Result<Subscription> {
    let change = Change::begin(cx, person, "plan", Some(key)).await?;
    let step = format!("to_{}_{}", plan_name(plan.tier), plan.api_addon);
    if change.has_begun(&step).await? {
        return change.result().await;
    }
    check(&change, plan)?;
    if !is_dearer(cx, &change, plan) {
        return at_period_end(change, plan).await;
    }
    let theirs: payments::Subscription = read(cx, &change.path()).await?;
    let mut update = Request::post(change.path())
        .with("proration_behavior", "always_invoice")
        .with("payment_behavior", "error_if_incomplete");
    for (name, value) in item_changes(cx, &theirs, plan).await? {
        update = update.with(format!("items{name}"), value);
    }
    let _: Value = change.call(&step, &update).await?;
    change.result().await
}

/// Takes back a change of the plan that is ahead.
///
/// # Errors
/// [`Code::NoSubscription`], or Stripe's.
pub async fn keep_plan(cx: &Domain, person: UserId, key: &str) -> Result<Subscription> {
    let change = Change::begin(cx, person, "keep", Some(key)).await?;
    change.release_schedule().await?;
    change.result().await
}

fn check(change: &Change<'_>, plan: PlanChoice) -> Result<()> {
    if plan == PlanChoice::from(&change.row) {
        let message = "That is the plan you have.";
        return Err(Error::field(
            Code::InvalidTier,
            "tier",
            message.to_owned(),
            "Choose another one.",
        ));
    }
    if change.row.pending_tier.is_some() {
        return Err(change.refused("changed while another change is ahead; take that back first"));
    }
    change.require(&[BillingStatus::Active], "changed to another plan")
}

fn is_dearer(cx: &Domain, change: &Change<'_>, plan: PlanChoice) -> bool {
    let plans = &crate::settings(cx).plans;
    let current = plans.price_of(change.row.plan_tier, change.row.api_addon);
    plans.price_of(plan.tier, plan.api_addon) > current
}

/// Returns the parameters that make the items of a subscription those of a plan, with names such as `[0][price]`.
async fn item_changes(
    cx: &Domain,
    theirs: &payments::Subscription,
    plan: PlanChoice,
) -> Result<Vec<(String, String)>> {
    let plans = &crate::settings(cx).plans;
    let keys = plans.lookup_keys(plan.tier, plan.api_addon);
    let products = Products::of(cx, theirs.items.data.iter().map(|item| &item.price)).await?;
    let mut wanted: Vec<(bool, String)> = Vec::new();
    for (key, price) in keys.iter().zip(lookup(cx, &keys).await?) {
        wanted.push((plans.tier_of(key).is_some(), price));
    }
    let mut changes = Vec::new();
    for (place, item) in theirs.items.data.iter().enumerate() {
        changes.push((format!("[{place}][id]"), item.id.clone()));
        let name = products.name(plans, &item.price);
        let is_plan = name.is_some_and(|name| plans.tier_of(name).is_some());
        let is_addon = name == Some(plans.api_addon.lookup_key.as_str());
        let next = wanted.iter().position(|(of_plan, _)| if *of_plan { is_plan } else { is_addon });
        match next.map(|next| wanted.remove(next)) {
            // An add-on that stays keeps the price it was bought for.
            Some((false, _)) => changes.push((format!("[{place}][price]"), item.price.id.clone())),
            Some((true, price)) => changes.push((format!("[{place}][price]"), price)),
            None => changes.push((format!("[{place}][deleted]"), "true".to_owned())),
        }
    }
    for (place, (_, price)) in (theirs.items.data.len()..).zip(wanted) {
        changes.push((format!("[{place}][price]"), price));
    }
    Ok(changes)
}

/// Changes the plan when the period ends, without proration.
pub(super) async fn at_period_end(change: Change<'_>, plan: PlanChoice) -> Result<Subscription> {
    change.require(&[BillingStatus::Active], "downgraded")?;
    let cx = change.cx;
    let theirs: payments::Subscription = read(cx, &change.path()).await?;
    let schedule: Schedule = match &theirs.schedule {
        Some(id) => read(cx, &format!("subscription_schedules/{id}")).await?,
        None => {
            let from = Request::post("subscription_schedules");
            change.call("schedule", &from.with("from_subscription", &theirs.id)).await?
        }
    };
    let now = schedule.phases.first().ok_or_else(|| Error::internal("a schedule has no phase"))?;
    let keys = crate::settings(cx).plans.lookup_keys(plan.tier, plan.api_addon);
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
    let step = format!("to_{}_{}", plan_name(plan.tier), plan.api_addon);
    let _: Value = change.call(&step, &update).await?;
    change.result().await
}
