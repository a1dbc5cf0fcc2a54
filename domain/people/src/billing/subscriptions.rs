//! Users' subscriptions in the state that Stripe last reported, and the plans of workspaces that follow from them.

use fanfare_core::{
    Domain, Tx,
    access::{PlanTier, plan_name},
    audit_trail::{self, Author, Change},
    error::{Error, Result},
    user_lock,
};
use fanfare_entities::{
    Millis, SubscriptionId, UserId, WorkspaceId, billing_subscription,
    billing_subscription::{BillingStatus, Column},
    subscription, workspace,
};
use fanfare_payments::{Price, Schedule, Subscription};
use sea_orm::{
    ActiveEnum, ActiveValue::Set, ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait,
    QueryFilter, QueryOrder, QuerySelect, sea_query::Expr,
};
use serde_json::{Value, json};

use super::{
    SoldPlan,
    change::status_name,
    read,
    sold::{self, Products},
};
use crate::{billing::workspace_posts::posts, credits};

/// The most attempts to write a subscription that others change at the same time.
const MAX_ATTEMPTS: usize = 20;

/// The stored part of a subscription.
struct Terms {
    status: BillingStatus,
    tier: PlanTier,
    api_addon: bool,
    amount: i64,
    currency: String,
    period: (Millis, Millis),
    schedule: Option<String>,
    resumes_at: Option<Millis>,
    cancel_at: Option<Millis>,
}

impl Terms {
    /// Returns what is stored of a subscription of this plan.
    fn of(plan: SoldPlan, theirs: &Subscription) -> Result<Self> {
        let items = &theirs.items.data;
        let first = items.first().ok_or_else(|| Error::internal("a subscription has no items"))?;
        let pause = theirs.pause_collection.as_ref();
        Ok(Self {
            status: status(theirs),
            tier: plan.tier,
            api_addon: plan.api_addon,
            amount: items.iter().filter_map(|item| item.price.unit_amount).sum(),
            currency: first.price.currency.clone(),
            period: (first.current_period_start * 1_000, first.current_period_end * 1_000),
            schedule: theirs.schedule.clone(),
            resumes_at: pause.and_then(|pause| pause.resumes_at).map(|seconds| seconds * 1_000),
            cancel_at: theirs.cancel_at.map(|seconds| seconds * 1_000),
        })
    }
}

/// The plan that a subscription changes to, and when.
type Pending = Option<(SoldPlan, Millis)>;

/// Returns a user's subscription that has not ended.
///
/// # Errors
/// The database's.
pub async fn live<C: ConnectionTrait>(
    conn: &C,
    person: UserId,
) -> Result<Option<billing_subscription::Model>> {
    let found = billing_subscription::Entity::find()
        .filter(Column::UserId.eq(person))
        .filter(Column::Status.ne(BillingStatus::Ended))
        .one(conn)
        .await?;
    Ok(found)
}

/// Returns a user's last subscription, even if it has ended.
///
/// # Errors
/// The database's.
pub(crate) async fn latest<C: ConnectionTrait>(
    conn: &C,
    person: UserId,
) -> Result<Option<billing_subscription::Model>> {
    if let Some(live) = live(conn, person).await? {
        return Ok(Some(live));
    }
    let found = billing_subscription::Entity::find()
        .filter(Column::UserId.eq(person))
        .order_by_desc(Column::CreatedAt)
        .order_by_desc(Column::Id)
        .one(conn)
        .await?;
    Ok(found)
}

/// Records a user's new subscription of a plan, and applies the plan to the user's workspaces. The user's row must be
/// locked.
pub(crate) async fn begin(
    cx: &Domain,
    tx: &DatabaseTransaction,
    person: UserId,
    (plan, theirs): (SoldPlan, &Subscription),
) -> Result<()> {
    let (terms, now) = (Terms::of(plan, theirs)?, cx.clock.now());
    let row = billing_subscription::ActiveModel {
        id: Set(SubscriptionId::fresh()),
        user_id: Set(person),
        stripe_id: Set(theirs.id.clone()),
        customer_id: Set(theirs.customer.clone()),
        status: Set(terms.status),
        plan_tier: Set(terms.tier),
        api_addon: Set(terms.api_addon),
        amount: Set(terms.amount),
        currency: Set(terms.currency.clone()),
        period_start: Set(terms.period.0),
        period_end: Set(terms.period.1),
        schedule_id: Set(terms.schedule.clone()),
        pending_tier: Set(None),
        pending_api_addon: Set(None),
        pending_at: Set(None),
        cancel_at: Set(terms.cancel_at),
        paused_at: Set(None),
        resumes_at: Set(terms.resumes_at),
        last_paused_at: Set(None),
        revision: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
    };
    let row = billing_subscription::Entity::insert(row).exec_with_returning(tx).await?;
    let by = Author::system(STRIPE);
    note(tx, &by, &row, (Value::Null, entry(&terms, None)), now).await?;
    apply_plan(tx, person, &terms).await
}

/// Reads a subscription at Stripe and writes its current state. If another process wrote the row after the reading, it
/// is read again, so that the last write never holds an older state than the one before. Unknown subscriptions are
/// ignored.
///
/// # Errors
/// [`fanfare_core::Code::Unavailable`] if Stripe does not answer.
pub(crate) async fn refresh(cx: &Domain, stripe_id: &str) -> Result<()> {
    refresh_noted(cx, stripe_id, None).await
}

/// Reads a subscription after a change that this author made to it, as it was in `before`.
///
/// # Errors
/// As [`refresh`].
pub(super) async fn refresh_after(
    cx: &Domain,
    before: &billing_subscription::Model,
    author: &Author,
) -> Result<()> {
    refresh_noted(cx, &before.stripe_id, Some((before, author))).await
}

/// The subscription before a change, and who made the change.
type Made<'a> = Option<(&'a billing_subscription::Model, &'a Author)>;

async fn refresh_noted(cx: &Domain, stripe_id: &str, made: Made<'_>) -> Result<()> {
    for _ in 0..MAX_ATTEMPTS {
        let by_id = Column::StripeId.eq(stripe_id);
        let known = billing_subscription::Entity::find().filter(by_id).one(&cx.db.write).await?;
        let Some(known) = known else { return Ok(()) };
        let theirs: Subscription = read(cx, &format!("subscriptions/{stripe_id}")).await?;
        let pending = pending(cx, &theirs).await?;
        let plan = sold::plan_of(cx, &theirs, (&known).into()).await?;
        if write(cx, &known, (plan, &theirs), (pending, made)).await? {
            Box::pin(hold_posts(cx, known.user_id)).await?;
            return Box::pin(credits::after_refresh(cx, known.user_id)).await;
        }
    }
    Err(Error::internal("a subscription changes too often to be written"))
}

/// Refreshes all subscriptions that have not ended, in case an event was lost. One that cannot be read is skipped.
///
/// # Errors
/// The database's.
pub async fn refresh_all(cx: &Domain) -> Result<u64> {
    if crate::settings(cx).billing.is_none() {
        return Ok(0);
    }
    let live = billing_subscription::Entity::find()
        .filter(Column::Status.ne(BillingStatus::Ended))
        .order_by_asc(Column::Id)
        .all(&cx.db.read)
        .await?;
    let mut read = 0;
    for row in live {
        match refresh(cx, &row.stripe_id).await {
            Ok(()) => read += 1,
            Err(error) => tracing::warn!(%error, "a subscription was not read"),
        }
    }
    Ok(read)
}

/// Writes the state that was read at Stripe. Returns false if the row has changed since it was read.
async fn write(
    cx: &Domain,
    known: &billing_subscription::Model,
    (plan, theirs): (SoldPlan, &Subscription),
    (pending, made): (Pending, Made<'_>),
) -> Result<bool> {
    let terms = Terms::of(plan, theirs)?;
    let (paused_at, last_paused_at) = match (terms.status, known.paused_at) {
        (BillingStatus::Paused, None) => (Some(stripe_now(cx)), Some(stripe_now(cx))),
        (BillingStatus::Paused, since) => (since, known.last_paused_at),
        _ => (None, known.last_paused_at),
    };
    let tx = cx.db.begin().await?;
    user_lock::lock(&tx, known.user_id).await?;
    let written = billing_subscription::Entity::update_many()
        .col_expr(Column::Status, Expr::value(terms.status.to_value()))
        .col_expr(Column::PlanTier, Expr::value(terms.tier.to_value()))
        .col_expr(Column::ApiAddon, Expr::value(terms.api_addon))
        .col_expr(Column::Amount, Expr::value(terms.amount))
        .col_expr(Column::Currency, Expr::value(terms.currency.as_str()))
        .col_expr(Column::PeriodStart, Expr::value(terms.period.0))
        .col_expr(Column::PeriodEnd, Expr::value(terms.period.1))
        .col_expr(Column::ScheduleId, Expr::value(terms.schedule.clone()))
        .col_expr(Column::PendingTier, Expr::value(pending.map(|(plan, _)| plan.tier.to_value())))
        .col_expr(Column::PendingApiAddon, Expr::value(pending.map(|(plan, _)| plan.api_addon)))
        .col_expr(Column::PendingAt, Expr::value(pending.map(|(_, at)| at)))
        .col_expr(Column::CancelAt, Expr::value(terms.cancel_at))
        .col_expr(Column::PausedAt, Expr::value(paused_at))
        .col_expr(Column::ResumesAt, Expr::value(terms.resumes_at))
        .col_expr(Column::LastPausedAt, Expr::value(last_paused_at))
        .col_expr(Column::Revision, Expr::value(known.revision + 1))
        .col_expr(Column::UpdatedAt, Expr::value(cx.clock.now()))
        .filter(Column::Id.eq(known.id))
        .filter(Column::Revision.eq(known.revision))
        .exec(&tx)
        .await?;
    if written.rows_affected != 1 {
        return Ok(false);
    }
    // A subscription that ended long ago must not change the workspaces of a user who has another one now.
    let live = live(&tx, known.user_id).await?;
    if live.is_none_or(|live| live.id == known.id) {
        apply_plan(&tx, known.user_id, &terms).await?;
    }
    // The event about a change may be here before the request that made it; the request is its author all the same.
    let stripe = Author::system(STRIPE);
    let (before, author) = made.unwrap_or((known, &stripe));
    let after = entry(&terms, pending.map(|(plan, _)| plan.tier));
    note(&tx, author, known, (entry_of(before), after), cx.clock.now()).await?;
    tx.commit().await?;
    Ok(true)
}

/// The name of Stripe in the audit log.
const STRIPE: &str = "stripe";

/// Returns what an entry of the audit log says of a subscription.
fn entry(terms: &Terms, pending: Option<PlanTier>) -> Value {
    json!({
        "status": status_name(terms.status),
        "tier": plan_name(terms.tier),
        "api_addon": terms.api_addon,
        "next_tier": pending.map(plan_name),
    })
}

fn entry_of(row: &billing_subscription::Model) -> Value {
    json!({
        "status": status_name(row.status),
        "tier": plan_name(row.plan_tier),
        "api_addon": row.api_addon,
        "next_tier": row.pending_tier.map(plan_name),
    })
}

/// Writes the change of a subscription into the audit log, if anything of it changed.
async fn note(
    tx: &DatabaseTransaction,
    author: &Author,
    row: &billing_subscription::Model,
    (before, after): (Value, Value),
    now: Millis,
) -> Result<()> {
    if before == after {
        return Ok(());
    }
    let change = Change {
        action: "plan",
        target: format!("subscription:{}", row.id),
        workspace: None,
        details: json!({"owner": format!("user:{}", row.user_id), "from": before, "to": after}),
    };
    audit_trail::write(tx, author, change, now).await
}

/// Returns Stripe's time at the last response, in ms; the time of a simulated account may be ahead of ours.
fn stripe_now(cx: &Domain) -> Millis {
    let simulated = crate::settings(cx).billing.as_ref().filter(|billing| billing.is_simulated);
    let said = simulated.and_then(|billing| billing.stripe.time());
    said.map_or_else(|| cx.clock.now(), |seconds| seconds * 1_000)
}

/// Returns the plan that the subscription's schedule changes to.
async fn pending(cx: &Domain, theirs: &Subscription) -> Result<Pending> {
    let Some(id) = &theirs.schedule else { return Ok(None) };
    let schedule: Schedule = read(cx, &format!("subscription_schedules/{id}")).await?;
    let Some(next) = schedule.phases.get(1) else { return Ok(None) };
    if next.start_date * 1_000 <= stripe_now(cx) {
        return Ok(None);
    }
    let mut prices = Vec::new();
    for item in &next.items {
        prices.push(read::<Price>(cx, &format!("prices/{}", item.price)).await?);
    }
    let (plans, products) = (&crate::settings(cx).plans, Products::of(cx, prices.iter()).await?);
    let names = || prices.iter().filter_map(|price| products.name(plans, price));
    let api_addon = names().any(|name| name == plans.api_addon.lookup_key);
    let tier = names().find_map(|name| plans.tier_of(name));
    Ok(tier.map(|tier| (SoldPlan { tier, api_addon }, next.start_date * 1_000)))
}

/// Holds the posts of a user's workspaces while the subscription is paused or has ended, and releases them afterwards.
async fn hold_posts(cx: &Domain, person: UserId) -> Result<()> {
    for workspace in covered_workspaces(&cx.db.write, person).await? {
        while hold_some(cx, person, workspace).await? {}
    }
    Ok(())
}

/// Moves the next posts of a workspace. The status is read in the transaction that moves them, under the lock under
/// which it is written: a pause that was read earlier does not undo a resume that has been carried out since.
async fn hold_some(cx: &Domain, person: UserId, workspace: WorkspaceId) -> Result<bool> {
    let mut tx = Tx::begin(cx).await?;
    user_lock::lock(tx.conn(), person).await?;
    let status = latest(tx.conn(), person).await?.map(|row| row.status);
    let is_covered = covered_workspaces(tx.conn(), person).await?.contains(&workspace);
    let moved = match status.filter(|_| is_covered) {
        Some(BillingStatus::Paused | BillingStatus::Ended) => {
            posts(cx).pause_some(&mut tx, workspace).await?
        }
        Some(BillingStatus::Active | BillingStatus::Canceling | BillingStatus::PastDue) => {
            posts(cx).resume_some(&mut tx, workspace).await?
        }
        Some(BillingStatus::Incomplete) | None => false,
    };
    tx.commit().await?;
    cx.failpoint.reach("posts_held").await;
    Ok(moved)
}

/// Returns the workspaces that a user owns and whose plan no operator set.
async fn covered_workspaces<C: ConnectionTrait>(
    conn: &C,
    person: UserId,
) -> Result<Vec<WorkspaceId>> {
    let owned = workspace::Entity::find()
        .select_only()
        .column(workspace::Column::Id)
        .filter(workspace::Column::OwnerId.eq(person));
    let owned: Vec<WorkspaceId> = owned.into_tuple().all(conn).await?;
    let theirs = subscription::Entity::find()
        .select_only()
        .column(subscription::Column::WorkspaceId)
        .filter(subscription::Column::WorkspaceId.is_in(owned))
        .filter(subscription::Column::Granted.eq(false));
    Ok(theirs.into_tuple().all(conn).await?)
}

/// Applies the plan of a user's subscription to these workspaces.
async fn apply_plan(tx: &DatabaseTransaction, person: UserId, terms: &Terms) -> Result<()> {
    let active = matches!(
        terms.status,
        BillingStatus::Active | BillingStatus::PastDue | BillingStatus::Canceling
    );
    // A paused subscription keeps its add-on, so that reading still works.
    let api_addon = terms.api_addon
        && !matches!(terms.status, BillingStatus::Incomplete | BillingStatus::Ended);
    let theirs = covered_workspaces(tx, person).await?;
    subscription::Entity::update_many()
        .col_expr(subscription::Column::PlanTier, Expr::value(terms.tier.to_value()))
        .col_expr(subscription::Column::ApiAddon, Expr::value(api_addon))
        .col_expr(subscription::Column::Active, Expr::value(active))
        .filter(subscription::Column::WorkspaceId.is_in(theirs))
        .exec(tx)
        .await?;
    Ok(())
}

/// Returns the status of a subscription. Stripe leaves a paused one `active`.
fn status(theirs: &Subscription) -> BillingStatus {
    match theirs.status.as_str() {
        "incomplete" => BillingStatus::Incomplete,
        "active" | "trialing" if theirs.pause_collection.is_some() => BillingStatus::Paused,
        // Stripe's portal, and flexible billing, write a cancellation as a date.
        "active" | "trialing" if theirs.cancel_at_period_end || theirs.cancel_at.is_some() => {
            BillingStatus::Canceling
        }
        "active" | "trialing" => BillingStatus::Active,
        "past_due" | "unpaid" => BillingStatus::PastDue,
        _ => BillingStatus::Ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn theirs(changes: Value) -> Subscription {
        let item = |key: &str, cents: i64| {
            json!({"id": "si", "current_period_start": 10, "current_period_end": 20, "price":
                {"id": key, "lookup_key": null, "product": key, "unit_amount": cents, "currency": "usd", "recurring": {"interval": "month"}}})
        };
        let items = [item("fanfare_api_addon_month", 1_900), item("fanfare_pro_month", 4_900)];
        let mut all = json!({
            "id": "sub_1", "status": "active", "customer": "cus_1", "cancel_at_period_end": false,
            "pause_collection": null, "schedule": null, "ended_at": null, "items": {"data": items},
        });
        for (name, value) in changes.as_object().unwrap() {
            all[name] = value.clone();
        }
        serde_json::from_value(all).unwrap()
    }

    #[test]
    fn the_price_and_the_period_of_a_subscription_are_those_of_its_items() {
        let plan = SoldPlan { tier: PlanTier::Pro, api_addon: true };
        let terms = Terms::of(plan, &theirs(json!({}))).unwrap();
        assert_eq!((terms.tier, terms.api_addon, terms.amount), (PlanTier::Pro, true, 6_800));
        assert_eq!((terms.status, terms.period), (BillingStatus::Active, (10_000, 20_000)));
        let other = theirs(json!({"items": {"data": []}}));
        assert!(Terms::of(plan, &other).is_err());
    }

    #[test]
    fn stripes_words_become_ours() {
        for (changes, wanted) in [
            (json!({"status": "incomplete"}), BillingStatus::Incomplete),
            (json!({"cancel_at_period_end": true}), BillingStatus::Canceling),
            (json!({"cancel_at": 20}), BillingStatus::Canceling),
            (json!({"cancel_at": 99}), BillingStatus::Canceling),
            (json!({"cancel_at": null}), BillingStatus::Active),
            (json!({"pause_collection": {"resumes_at": 7}}), BillingStatus::Paused),
            (json!({"status": "past_due"}), BillingStatus::PastDue),
            (json!({"status": "canceled"}), BillingStatus::Ended),
            (json!({"status": "incomplete_expired"}), BillingStatus::Ended),
        ] {
            assert_eq!(status(&theirs(changes.clone())), wanted, "{changes}");
        }
    }
}
