//! The chores: recurring work such as deleting what has expired.

use std::time::Duration;

use fanfare_conversations::{business, inbox};
use fanfare_core::{
    Domain, batches,
    durable::{self, Lease},
    error::Result,
    events,
    idempotency::RETENTION,
    logins, processes,
};
use fanfare_entities::{Millis, chore, event, idempotency_key, webhook_delivery};
use fanfare_insight::analytics;
use fanfare_jobs::JobKind;
use fanfare_people::{billing, invitations, mail, oauth_provider, sign_in, signup};
use fanfare_publishing::{accounts::oauth_connect, lost_calls, media};
use futures_util::{FutureExt, future::BoxFuture};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, EntityTrait, ExprTrait,
    sea_query::{IntoCondition, OnConflict},
};

use crate::{feedback, ops};

/// The chore that deletes what has expired.
pub const CLEAN_UP: &str = "clean_up";

/// The chore that removes orphans from the media store, which walks over all of it.
pub const FIND_ORPHANS: &str = "find_orphans";

/// The chore that reads subscriptions at Stripe, in case an event was lost.
pub const REFRESH_SUBSCRIPTIONS: &str = "refresh_subscriptions";

/// The chore that compares wallets with their ledgers.
pub const CHECK_WALLETS: &str = "check_wallets";

/// The chore that refunds credits of operations that have not ended in time.
pub const REFUND_CREDITS: &str = "refund_credits";

/// The chores and their intervals.
const CHORES: [(&str, Duration); 5] = [
    (REFUND_CREDITS, Duration::from_secs(5 * 60)),
    (CLEAN_UP, Duration::from_secs(15 * 60)),
    (FIND_ORPHANS, Duration::from_secs(24 * 3_600)),
    (REFRESH_SUBSCRIPTIONS, Duration::from_secs(24 * 3_600)),
    (CHECK_WALLETS, Duration::from_secs(24 * 3_600)),
];

const DAY: Millis = 24 * 3_600_000;

/// Creates the missing rows of chores, which are due at once.
///
/// # Errors
/// The database's.
pub async fn ensure(cx: &Domain) -> Result<()> {
    let rows = CHORES.map(|(name, _)| chore::ActiveModel {
        name: Set(name.to_owned()),
        due_at: Set(Some(cx.clock.now())),
        fencing_token: Set(0),
        attempts: Set(0),
        lease_expirations: Set(0),
        ..Default::default()
    });
    let known = OnConflict::column(chore::Column::Name).do_nothing().to_owned();
    chore::Entity::insert_many(rows)
        .on_conflict(known)
        .exec_without_returning(&cx.db.write)
        .await?;
    Ok(())
}

/// Claims a chore if it is due.
///
/// # Errors
/// The database's.
pub async fn claim(cx: &Domain, holder: &str, id: i64) -> Result<Option<chore::Model>> {
    let taken =
        durable::claim(&cx.db.write, JobKind::CleanUp, &[id], (holder, cx.clock.now())).await?;
    Ok(taken.into_iter().next())
}

/// What a clean-up did.
#[derive(Debug, Default)]
pub struct CleanUp {
    /// The number of rows that were deleted.
    pub rows: u64,
    /// The parts that failed. They are tried again next time.
    pub failed: Vec<&'static str>,
}

/// Deletes what has expired: idempotency keys after a day, events and ended deliveries after thirty days, failed copies
/// and upload addresses after a day, drop pages after thirty days, unused files when the plan says so, samples and
/// workers' rows after a day, agent feedback after 180 days, log-ins and connect sessions after their end, codes and
/// tokens a day after theirs, and the content of e-mails a day after they were sent. Each part succeeds or fails alone.
pub async fn clean_up(cx: &Domain) -> CleanUp {
    let now = cx.clock.now();
    let parts: [(&'static str, BoxFuture<'_, Result<u64>>); 26] = [
        ("idempotency keys", delete_keys(cx, now - RETENTION).boxed()),
        ("webhook deliveries", delete_deliveries(cx, now - 30 * DAY).boxed()),
        ("events", delete_events(cx, now - 30 * DAY).boxed()),
        ("failed copies", media::delete_failed(cx, now - DAY).boxed()),
        ("upload addresses", media::signed::prune(cx).boxed()),
        ("guest uploads", media::guest_uploads::prune(cx).boxed()),
        ("unused files", media::retention::delete_unused(cx).boxed()),
        ("samples", ops::samples::prune(cx).boxed()),
        ("workers", ops::fleet::prune(cx).boxed()),
        ("operators' log-ins", ops::sessions::prune(cx).boxed()),
        ("log-ins", sign_in::prune(cx).boxed()),
        ("log-in attempts", logins::prune(cx).boxed()),
        ("connect sessions", oauth_connect::prune(cx).boxed()),
        ("codes and tokens", oauth_provider::prune(cx).boxed()),
        ("signups", signup::prune(cx).boxed()),
        ("Stripe's events", billing::events::prune(cx, now - 30 * DAY).boxed()),
        ("calls of Stripe", billing::forget_calls(cx, now - 30 * DAY).boxed()),
        ("letters", mail::prune(cx).boxed()),
        ("password links", sign_in::links::prune(cx).boxed()),
        ("feedback", feedback::prune(cx).boxed()),
        ("invitations", invitations::prune(cx).boxed()),
        ("processes", processes::prune(cx, now - DAY).boxed()),
        ("numbers", analytics::prune(cx).boxed()),
        ("results of changes", lost_calls::register::prune(cx, now - 30 * DAY).boxed()),
        ("inbox", inbox::prune(cx).boxed()),
        ("business profiles", business::sync::prune(cx).boxed()),
    ];
    let mut done = CleanUp::default();
    for (part, task) in parts {
        match task.await {
            Ok(rows) => done.rows += rows,
            Err(error) => {
                tracing::warn!(part, %error, "a part of the clean-up failed; it is tried again later");
                done.failed.push(part);
            }
        }
    }
    done
}

async fn delete_keys(cx: &Domain, before: Millis) -> Result<u64> {
    let at = idempotency_key::Column::CreatedAt;
    let old = at.lt(before).into_condition();
    let sealed = old.clone().add(idempotency_key::Column::SecretId.is_not_null());
    batches::repeat(|| async {
        let first = batches::first::<idempotency_key::Entity>(at, &sealed);
        let rows = first.all(&cx.db.write).await?;
        let secrets = rows.iter().filter_map(|row| row.secret_id).collect();
        let tx = cx.db.begin().await?;
        batches::delete_secrets(&tx, secrets).await?;
        for row in &rows {
            idempotency_key::Entity::delete_by_id((row.owner_id, row.key.clone()))
                .exec(&tx)
                .await?;
        }
        tx.commit().await?;
        Ok(rows.len() as u64)
    })
    .await?;
    batches::delete::<idempotency_key::Entity>(cx, at, old).await
}

async fn delete_deliveries(cx: &Domain, before: Millis) -> Result<u64> {
    let at = webhook_delivery::Column::UpdatedAt;
    let ended = webhook_delivery::Column::DueAt.is_null().and(at.lt(before));
    batches::delete::<webhook_delivery::Entity>(cx, at, ended).await
}

/// Ids are indexed and ordered by the time on the machine that made them; `created_at` decides.
async fn delete_events(cx: &Domain, before: Millis) -> Result<u64> {
    let id = event::Column::Id;
    let old = id.lt(events::first_id_at(before)).and(event::Column::CreatedAt.lt(before));
    batches::delete::<event::Entity>(cx, id, old).await
}

/// Gives a chore back until its next time.
///
/// # Errors
/// The database's.
pub async fn finish(cx: &Domain, chore: &chore::Model) -> Result<()> {
    let every = CHORES.iter().find(|(name, _)| *name == chore.name).map(|(_, every)| *every);
    let every = every.and_then(|every| Millis::try_from(every.as_millis()).ok()).unwrap_or(DAY);
    let lease = Lease { id: chore.id.0, fencing_token: chore.fencing_token };
    durable::release(cx, JobKind::CleanUp, &[lease], cx.clock.now() + every).await
}
