//! Stripe's events: each is stored once, and applied by a worker.

use fanfare_core::{
    Domain, Tx, batches,
    durable::{self, Lease},
    error::{Code, Error, Result},
};
use fanfare_entities::{
    Millis,
    stripe_event::{self, Column, EventStatus},
};
use fanfare_jobs::JobKind;
use fanfare_payments::{
    CheckoutSession, Dispute, Event, EventKind, Invoice, Refund, Schedule, SignatureError, verify,
};
use sea_orm::{
    ActiveEnum,
    ActiveValue::Set,
    ColumnTrait, EntityTrait, ExprTrait, QueryFilter,
    sea_query::{Expr, OnConflict},
};
use serde::de::DeserializeOwned;

use super::{read, subscriptions};
use crate::{credits::packs, signup};

/// The kind of object that an event reports on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ObjectKind {
    Checkout,
    Subscription,
    Invoice,
    Schedule,
    Charge,
    Dispute,
    Refund,
}

/// Returns the kind of object that an event reports on; `None` for events that are ignored.
fn object_kind(kind: &str) -> Option<ObjectKind> {
    Some(match kind {
        "checkout.session.completed"
        | "checkout.session.async_payment_succeeded"
        | "checkout.session.async_payment_failed"
        | "checkout.session.expired" => ObjectKind::Checkout,
        "customer.subscription.created"
        | "customer.subscription.updated"
        | "customer.subscription.deleted" => ObjectKind::Subscription,
        "invoice.paid" | "invoice.payment_failed" | "invoice.payment_action_required" => {
            ObjectKind::Invoice
        }
        "subscription_schedule.updated"
        | "subscription_schedule.released"
        | "subscription_schedule.canceled" => ObjectKind::Schedule,
        "charge.refunded" => ObjectKind::Charge,
        "charge.dispute.created"
        | "charge.dispute.updated"
        | "charge.dispute.closed"
        | "charge.dispute.funds_withdrawn"
        | "charge.dispute.funds_reinstated" => ObjectKind::Dispute,
        "refund.created" | "refund.updated" | "refund.failed" | "charge.refund.updated" => {
            ObjectKind::Refund
        }
        _ => return None,
    })
}

/// Stores an event that Stripe sent. Events that are already known, or are ignored, change nothing.
///
/// # Errors
/// [`Code::InvalidSignature`], [`Code::BillingNotConfigured`], or the database's; then Stripe sends the event again.
pub async fn receive(cx: &Domain, body: &[u8], signature: &str) -> Result<()> {
    let billing = crate::settings(cx).require_billing()?;
    let now = cx.clock.now() / 1_000;
    verify(body, signature, &billing.webhook_secrets, now)
        .map_err(|why| invalid_signature(&why))?;
    let EventKind { kind } = parse(body)?;
    if object_kind(&kind).is_none() {
        return Ok(());
    }
    let event: Event = parse(body)?;
    let mut tx = Tx::begin(cx).await?;
    let now = tx.now();
    let row = stripe_event::ActiveModel {
        event_id: Set(event.id.clone()),
        kind: Set(kind),
        object_id: Set(event.data.object.id),
        status: Set(EventStatus::Pending),
        due_at: Set(Some(now)),
        fencing_token: Set(0),
        attempts: Set(0),
        lease_expirations: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    let known = OnConflict::column(Column::EventId).do_nothing().to_owned();
    let made =
        stripe_event::Entity::insert(row).on_conflict(known).exec_without_returning(tx.conn());
    if made.await? == 0 {
        return Ok(());
    }
    let by_id = Column::EventId.eq(event.id);
    if let Some(row) = stripe_event::Entity::find().filter(by_id).one(tx.conn()).await? {
        tx.enqueue_global(JobKind::ApplyStripeEvent, row.id.0, now);
    }
    tx.commit().await
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).map_err(|error| {
        Error::new(Code::InvalidJson, format!("The body is no event of Stripe: {error}."))
    })
}

fn invalid_signature(why: &SignatureError) -> Error {
    tracing::warn!(%why, "a webhook of Stripe was refused");
    Error::new(Code::InvalidSignature, format!("The webhook was refused: {why}."))
}

/// Claims an event, if it is due.
///
/// # Errors
/// The database's. The row may have been claimed all the same; then its lease expires.
pub async fn claim(cx: &Domain, holder: &str, id: i64) -> Result<Option<stripe_event::Model>> {
    let now = cx.clock.now();
    let taken =
        durable::claim(&cx.db.write, JobKind::ApplyStripeEvent, &[id], (holder, now)).await?;
    Ok(taken.into_iter().next())
}

/// Reads the object of an event at Stripe, and applies its current state.
///
/// # Errors
/// [`Code::Unavailable`] if Stripe does not answer; then the event is applied later.
pub async fn apply(cx: &Domain, event: &stripe_event::Model) -> Result<()> {
    let object = &event.object_id;
    match object_kind(&event.kind) {
        None => Ok(()),
        Some(ObjectKind::Checkout) => {
            let session: CheckoutSession = read(cx, &format!("checkout/sessions/{object}")).await?;
            apply_checkout(cx, &session).await
        }
        Some(ObjectKind::Subscription) => subscriptions::refresh(cx, object).await,
        Some(ObjectKind::Invoice) => {
            let invoice: Invoice = read(cx, &format!("invoices/{object}")).await?;
            match invoice.subscription() {
                Some(id) => subscriptions::refresh(cx, id).await,
                None => Ok(()),
            }
        }
        Some(ObjectKind::Charge) => packs::reconcile_charge(cx, object).await,
        Some(ObjectKind::Dispute) => {
            let dispute: Dispute = read(cx, &format!("disputes/{object}")).await?;
            packs::reconcile_charge(cx, &dispute.charge).await
        }
        Some(ObjectKind::Refund) => {
            let refund: Refund = read(cx, &format!("refunds/{object}")).await?;
            match refund.charge {
                Some(charge) => packs::reconcile_charge(cx, &charge).await,
                None => Ok(()),
            }
        }
        Some(ObjectKind::Schedule) => {
            let schedule: Schedule = read(cx, &format!("subscription_schedules/{object}")).await?;
            match schedule.subscription.or(schedule.released_subscription) {
                Some(id) => subscriptions::refresh(cx, &id).await,
                None => Ok(()),
            }
        }
    }
}

/// Applies Stripe's state of a checkout of ours. It may be applied repeatedly and late.
///
/// # Errors
/// [`Code::Unavailable`] if Stripe does not answer; then it has to be applied again.
pub(super) async fn apply_checkout(cx: &Domain, session: &CheckoutSession) -> Result<()> {
    match session.mode.as_str() {
        "payment" => packs::apply(cx, session).await,
        _ => signup::apply(cx, session).await,
    }
}

/// The result of applying an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventOutcome {
    /// It is applied.
    Applied,
    /// It cannot be applied, for this reason.
    Failed(String),
    /// It is applied again at this time, for this reason.
    Retry(Millis, String),
}

/// Records the outcome of an event. Returns false if the row is no longer held.
///
/// # Errors
/// The database's.
pub async fn finish(cx: &Domain, lease: Lease, outcome: &EventOutcome) -> Result<bool> {
    let (status, due_at, why, tried) = match outcome {
        EventOutcome::Applied => (EventStatus::Applied, None, None, 0),
        EventOutcome::Failed(why) => (EventStatus::Failed, None, Some(why), 1),
        EventOutcome::Retry(at, why) => (EventStatus::Pending, Some(*at), Some(why), 1),
    };
    let mut tx = Tx::begin(cx).await?;
    let update = durable::give_back::<stripe_event::Entity>(lease, due_at, tx.now())
        .col_expr(Column::Status, Expr::value(status.to_value()))
        .col_expr(Column::LastError, Expr::value(why.cloned()))
        .col_expr(Column::Attempts, Expr::col(Column::Attempts).add(tried));
    if update.exec(tx.conn()).await?.rows_affected != 1 {
        return Ok(false);
    }
    if let Some(at) = due_at {
        tx.enqueue_global(JobKind::ApplyStripeEvent, lease.id, at);
    }
    tx.commit().await?;
    Ok(true)
}

/// Deletes events that ended before then.
///
/// # Errors
/// The database's.
pub async fn prune(cx: &Domain, before: Millis) -> Result<u64> {
    let ended = Column::DueAt.is_null().and(Column::UpdatedAt.lt(before));
    batches::delete::<stripe_event::Entity>(cx, Column::UpdatedAt, ended).await
}
