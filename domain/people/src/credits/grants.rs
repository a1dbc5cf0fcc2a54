//! The included pool: what grants its credits, and when they expire.
//!
//! A subscription grants them with each paid invoice; a plan that an operator set grants them every month. While a user
//! has a live subscription, only the subscription counts.

use chrono::Months;
use fanfare_core::{Domain, access::PlanTier, clock, error::Result};
use fanfare_entities::{
    Millis, UserId, WorkspaceId, billing_subscription, billing_subscription::BillingStatus,
    credit_wallet, credit_wallet::CreditSource, subscription, workspace,
};
use fanfare_payments::{Invoice, List, Request};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect,
};

use super::{
    payer,
    store::{self, Note},
    wallet::{Book, Period},
};
use crate::billing::{self, subscriptions};

/// A plan that an operator set: the highest of the user's workspaces, and when the first one was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct GrantedPlan {
    tier: PlanTier,
    since: Millis,
}

/// Brings a locked wallet up to date: expired credits, a new month of an operator's plan, a larger plan.
pub(super) async fn bring_up_to_date(
    cx: &Domain,
    tx: &DatabaseTransaction,
    book: &mut Book,
) -> Result<()> {
    let period = book.wallet.period.clone();
    if !apply_changes(cx, tx, book).await? {
        return Ok(());
    }
    let period = book.wallet.period.clone().or(period);
    let note = Note { reference: period.as_deref(), ..Note::default() };
    store::write(tx, book, note, cx.clock.now()).await
}

/// Returns a user's wallet, if it is up to date.
pub(super) async fn current(cx: &Domain, person: UserId) -> Result<Option<credit_wallet::Model>> {
    let Some(row) = store::read(&cx.db.read, person).await? else { return Ok(None) };
    let mut book = Book::of(row.clone());
    let is_outdated = apply_changes(cx, &cx.db.read, &mut book).await?;
    Ok((!is_outdated).then_some(row))
}

/// Applies due changes to a wallet. Returns true if there were any.
async fn apply_changes<C: ConnectionTrait>(cx: &Domain, conn: &C, book: &mut Book) -> Result<bool> {
    let (now, before) = (cx.clock.now(), book.wallet.clone());
    if book.wallet.period.is_some() && book.wallet.period_end <= now {
        book.end_period();
    }
    match live(conn, before.user_id).await? {
        Some(theirs) => apply_subscription(cx, book, &theirs),
        None => apply_operator_plan(cx, book, granted_plan(conn, before.user_id).await?, now),
    }
    Ok(book.wallet != before)
}

/// Returns the subscription of a user that grants credits.
async fn live<C: ConnectionTrait>(
    conn: &C,
    person: UserId,
) -> Result<Option<billing_subscription::Model>> {
    let live = subscriptions::live(conn, person).await?;
    Ok(live.filter(|row| row.status != BillingStatus::Incomplete))
}

fn apply_subscription(cx: &Domain, book: &mut Book, theirs: &billing_subscription::Model) {
    let is_current = book.wallet.period.as_ref() == Some(&period_key(theirs));
    let allowance = crate::settings(cx).plans.credits_of(theirs.plan_tier);
    if book.wallet.period.is_some() && !is_current {
        book.end_period();
    } else if is_current && allowance > book.wallet.allowance {
        book.resize(allowance);
    }
}

fn apply_operator_plan(cx: &Domain, book: &mut Book, granted: Option<GrantedPlan>, now: Millis) {
    let Some(granted) = granted else {
        if book.wallet.period.is_some() {
            book.end_period();
        }
        return;
    };
    let allowance = crate::settings(cx).plans.credits_of(granted.tier);
    let is_current = book.wallet.source == Some(CreditSource::Operator);
    if is_current && allowance != book.wallet.allowance {
        book.resize(allowance);
    } else if !is_current {
        book.begin_period(&month_of(granted.since, now), allowance);
    }
}

/// Returns the month, counted from the time at which a plan was set, that contains `now`.
fn month_of(since: Millis, now: Millis) -> Period {
    let nth = |months: u32| {
        let date = clock::date(since).checked_add_months(Months::new(months));
        date.map_or(Millis::MAX, |date| date.timestamp_millis())
    };
    let mut months = u32::try_from((now - since).max(0) / (31 * 86_400_000)).unwrap_or(0);
    while nth(months + 1) <= now {
        months += 1;
    }
    let (start, end) = (nth(months), nth(months + 1));
    Period { source: CreditSource::Operator, key: format!("operator:{start}"), start, end }
}

/// Returns the highest plan that an operator set for a user's workspaces.
///
/// # Errors
/// The database's.
pub async fn operator_plan(cx: &Domain, person: UserId) -> Result<Option<PlanTier>> {
    Ok(granted_plan(&cx.db.read, person).await?.map(|granted| granted.tier))
}

async fn granted_plan<C: ConnectionTrait>(conn: &C, person: UserId) -> Result<Option<GrantedPlan>> {
    let owned: Vec<WorkspaceId> = workspace::Entity::find()
        .select_only()
        .column(workspace::Column::Id)
        .filter(workspace::Column::OwnerId.eq(person))
        .into_tuple()
        .all(conn)
        .await?;
    let rows = subscription::Entity::find()
        .filter(subscription::Column::WorkspaceId.is_in(owned))
        .filter(subscription::Column::Granted.eq(true))
        .filter(subscription::Column::Active.eq(true))
        .all(conn)
        .await?;
    let tier = rows.iter().map(|row| row.plan_tier).max();
    let since = rows.iter().map(|row| row.created_at).min();
    Ok(tier.zip(since).map(|(tier, since)| GrantedPlan { tier, since }))
}

/// Returns the key of a subscription's period.
fn period_key(theirs: &billing_subscription::Model) -> String {
    format!("{}:{}", theirs.stripe_id, theirs.period_start)
}

/// Brings a user's wallet up to date.
///
/// # Errors
/// The database's.
pub async fn update(cx: &Domain, person: UserId) -> Result<()> {
    let tx = cx.db.begin().await?;
    let mut book = store::lock(&tx, person, cx.clock.now()).await?;
    bring_up_to_date(cx, &tx, &mut book).await?;
    tx.commit().await?;
    Ok(())
}

/// Brings the wallet of a workspace's owner up to date.
///
/// # Errors
/// The database's.
pub(crate) async fn update_for(cx: &Domain, id: WorkspaceId) -> Result<()> {
    update(cx, payer(&cx.db.write, id).await?).await
}

/// Brings a user's wallet up to date after a subscription was read at Stripe, and grants the allowance of its period
/// once the invoice is paid.
///
/// # Errors
/// [`fanfare_core::Code::Unavailable`] if Stripe does not answer; then it has to be called again.
pub(crate) async fn after_refresh(cx: &Domain, person: UserId) -> Result<()> {
    update(cx, person).await?;
    let Some(theirs) = live(&cx.db.write, person).await? else { return Ok(()) };
    let known = store::read(&cx.db.write, person).await?;
    if known.is_some_and(|wallet| wallet.last_start >= theirs.period_start) {
        return Ok(());
    }
    let Some(tier) = paid_tier(cx, &theirs).await? else { return Ok(()) };
    let period = Period {
        source: CreditSource::Subscription,
        key: period_key(&theirs),
        start: theirs.period_start,
        end: theirs.period_end,
    };
    let tx = cx.db.begin().await?;
    let now = cx.clock.now();
    let mut book = store::lock(&tx, person, now).await?;
    if book.begin_period(&period, crate::settings(cx).plans.credits_of(tier)) {
        let note = Note { reference: Some(&period.key), ..Note::default() };
        store::write(&tx, &mut book, note, now).await?;
        tx.commit().await?;
    }
    Ok(())
}

/// Returns the plan of the paid invoice for the subscription's current period.
async fn paid_tier(cx: &Domain, theirs: &billing_subscription::Model) -> Result<Option<PlanTier>> {
    let paid = Request::get("invoices")
        .with("subscription", &theirs.stripe_id)
        .with("status", "paid")
        .with("limit", "20");
    let paid: List<Invoice> = billing::list(cx, &paid).await?;
    let is_of_period = |invoice: &&Invoice| {
        let lines = &invoice.lines.data;
        lines.iter().any(|line| line.period.start * 1_000 == theirs.period_start)
    };
    Ok(paid.data.iter().find(is_of_period).map(|invoice| {
        let products = invoice.lines.data.iter().filter_map(|line| line.product());
        let tiers = products.filter_map(|product| crate::settings(cx).plans.tier_of(product));
        tiers.max().unwrap_or(theirs.plan_tier)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_counted_from_the_grant_and_end_on_the_last_day_at_the_latest() {
        let at =
            |text: &str| text.parse::<chrono::DateTime<chrono::Utc>>().unwrap().timestamp_millis();
        let since = at("2026-01-31T10:00:00Z");
        for (now, start, end) in [
            ("2026-01-31T10:00:00Z", "2026-01-31T10:00:00Z", "2026-02-28T10:00:00Z"),
            ("2026-02-28T09:59:59Z", "2026-01-31T10:00:00Z", "2026-02-28T10:00:00Z"),
            ("2026-02-28T10:00:00Z", "2026-02-28T10:00:00Z", "2026-03-31T10:00:00Z"),
            ("2028-07-01T00:00:00Z", "2028-06-30T10:00:00Z", "2028-07-31T10:00:00Z"),
        ] {
            let period = month_of(since, at(now));
            assert_eq!((period.start, period.end), (at(start), at(end)), "{now}");
        }
    }
}
