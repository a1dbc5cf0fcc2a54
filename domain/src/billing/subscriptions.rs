//! Users' subscriptions in the state that Stripe last reported, and the plans of workspaces that follow from them.

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

use super::{Plans, read};
use crate::{
    Domain,
    access::PlanTier,
    credits,
    error::{Error, Result},
    posts::unpaid,
    user_lock,
};

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
}

/// The plan that a subscription changes to, and when.
type Pending = Option<(PlanTier, Millis)>;

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

/// Records a user's new subscription, and applies its plan to the user's workspaces. The user's row must be locked.
pub(crate) async fn begin(
    cx: &Domain,
    tx: &DatabaseTransaction,
    person: UserId,
    theirs: &Subscription,
) -> Result<()> {
    let (terms, now) = (terms(&cx.settings.plans, theirs)?, cx.clock.now());
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
        pending_at: Set(None),
        paused_at: Set(None),
        resumes_at: Set(terms.resumes_at),
        last_paused_at: Set(None),
        revision: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
    };
    billing_subscription::Entity::insert(row).exec_without_returning(tx).await?;
    apply_plan(tx, person, &terms).await
}

/// Reads a subscription at Stripe and writes its current state. If another process wrote the row after the reading, it
/// is read again, so that the last write never holds an older state than the one before. Unknown subscriptions are
/// ignored.
///
/// # Errors
/// [`crate::Code::Unavailable`] if Stripe does not answer.
pub(crate) async fn refresh(cx: &Domain, stripe_id: &str) -> Result<()> {
    for _ in 0..MAX_ATTEMPTS {
        let by_id = Column::StripeId.eq(stripe_id);
        let known = billing_subscription::Entity::find().filter(by_id).one(&cx.db.write).await?;
        let Some(known) = known else { return Ok(()) };
        let theirs: Subscription = read(cx, &format!("subscriptions/{stripe_id}")).await?;
        let pending = pending(cx, &theirs).await?;
        if let Some(status) = write(cx, &known, &theirs, pending).await? {
            Box::pin(hold_posts(cx, known.user_id, status)).await?;
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
    if cx.settings.billing.is_none() {
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

/// Writes the state that was read at Stripe, unless the row has changed since.
async fn write(
    cx: &Domain,
    known: &billing_subscription::Model,
    theirs: &Subscription,
    pending: Pending,
) -> Result<Option<BillingStatus>> {
    let terms = terms(&cx.settings.plans, theirs)?;
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
        .col_expr(Column::PendingTier, Expr::value(pending.map(|(tier, _)| tier.to_value())))
        .col_expr(Column::PendingAt, Expr::value(pending.map(|(_, at)| at)))
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
        return Ok(None);
    }
    // A subscription that ended long ago must not change the workspaces of a user who has another one now.
    let live = live(&tx, known.user_id).await?;
    let counts = live.is_none_or(|live| live.id == known.id);
    if counts {
        apply_plan(&tx, known.user_id, &terms).await?;
    }
    tx.commit().await?;
    Ok(Some(if counts { terms.status } else { BillingStatus::Active }))
}

/// Returns Stripe's time at the last response, in ms; the time of a simulated account may be ahead of ours.
fn stripe_now(cx: &Domain) -> Millis {
    let simulated = cx.settings.billing.as_ref().filter(|billing| billing.is_simulated);
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
    for item in &next.items {
        let price: Price = read(cx, &format!("prices/{}", item.price)).await?;
        let tier = cx.settings.plans.tier_of(&price.product);
        if let Some(tier) = tier {
            return Ok(Some((tier, next.start_date * 1_000)));
        }
    }
    Ok(None)
}

/// Holds the posts of a user's workspaces while the subscription is paused or has ended, and releases them afterwards.
async fn hold_posts(cx: &Domain, person: UserId, status: BillingStatus) -> Result<()> {
    for workspace in covered_workspaces(&cx.db.write, person).await? {
        match status {
            BillingStatus::Paused | BillingStatus::Ended => unpaid::pause(cx, workspace).await?,
            BillingStatus::Active | BillingStatus::Canceling | BillingStatus::PastDue => {
                unpaid::resume(cx, workspace).await?;
            }
            BillingStatus::Incomplete => {}
        }
    }
    Ok(())
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

fn terms(plans: &Plans, theirs: &Subscription) -> Result<Terms> {
    let items = &theirs.items.data;
    // A price that is no longer sold has lost its lookup key, but its product has not.
    let keys = || items.iter().map(|item| item.price.product.as_str());
    let tier = keys().find_map(|key| plans.tier_of(key));
    let tier = tier.ok_or_else(|| {
        Error::internal(format!("the subscription {} is of no plan that is sold here", theirs.id))
    })?;
    let first = items.first().ok_or_else(|| Error::internal("a subscription has no items"))?;
    Ok(Terms {
        status: status(theirs),
        tier,
        api_addon: keys().any(|key| key == plans.api_addon.lookup_key),
        amount: items.iter().filter_map(|item| item.price.unit_amount).sum(),
        currency: first.price.currency.clone(),
        period: (first.current_period_start * 1_000, first.current_period_end * 1_000),
        schedule: theirs.schedule.clone(),
        resumes_at: theirs
            .pause_collection
            .as_ref()
            .and_then(|pause| pause.resumes_at)
            .map(|seconds| seconds * 1_000),
    })
}

/// Returns the status of a subscription. Stripe leaves a paused one `active`.
fn status(theirs: &Subscription) -> BillingStatus {
    match theirs.status.as_str() {
        "incomplete" => BillingStatus::Incomplete,
        "active" | "trialing" if theirs.pause_collection.is_some() => BillingStatus::Paused,
        "active" | "trialing" if theirs.cancel_at_period_end => BillingStatus::Canceling,
        "active" | "trialing" => BillingStatus::Active,
        "past_due" | "unpaid" => BillingStatus::PastDue,
        _ => BillingStatus::Ended,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

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
    fn a_subscription_is_read_by_the_names_of_its_prices() {
        let terms = terms(&Plans::built_in().unwrap(), &theirs(json!({}))).unwrap();
        assert_eq!((terms.tier, terms.api_addon, terms.amount), (PlanTier::Pro, true, 6_800));
        assert_eq!((terms.status, terms.period), (BillingStatus::Active, (10_000, 20_000)));
        let other = theirs(json!({"items": {"data": []}}));
        assert!(super::terms(&Plans::built_in().unwrap(), &other).is_err());
    }

    #[test]
    fn stripes_words_become_ours() {
        for (changes, wanted) in [
            (json!({"status": "incomplete"}), BillingStatus::Incomplete),
            (json!({"cancel_at_period_end": true}), BillingStatus::Canceling),
            (json!({"pause_collection": {"resumes_at": 7}}), BillingStatus::Paused),
            (json!({"status": "past_due"}), BillingStatus::PastDue),
            (json!({"status": "canceled"}), BillingStatus::Ended),
            (json!({"status": "incomplete_expired"}), BillingStatus::Ended),
        ] {
            assert_eq!(status(&theirs(changes.clone())), wanted, "{changes}");
        }
    }
}
