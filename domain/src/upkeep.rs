//! The chores: recurring work such as deleting what has expired.

use std::time::Duration;

use fanfare_entities::{Millis, chore, event, idempotency_key, secret, webhook_delivery};
use fanfare_jobs::JobKind;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, sea_query::OnConflict};
use uuid::Uuid;

use crate::{
    Domain,
    accounts::oauth_connect,
    analytics, billing, credits,
    durable::{self, Lease},
    error::Result,
    feedback,
    idempotency::RETENTION,
    inbox, logins, mail, media, oauth_provider, ops, processes, sign_in, signup,
};

/// The chore that deletes what has expired.
pub const CLEAN_UP: &str = "clean_up";

/// The chore that removes orphans from the media store, which walks over all of it.
pub const FIND_ORPHANS: &str = "find_orphans";

/// The chore that reads subscriptions at Stripe, in case an event was lost.
pub const REFRESH_SUBSCRIPTIONS: &str = "refresh_subscriptions";

/// The chore that compares wallets with their ledgers.
pub const CHECK_WALLETS: &str = "check_wallets";

/// The chores and their intervals.
const CHORES: [(&str, Duration); 4] = [
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

/// Deletes what has expired: idempotency keys after a day, events and ended deliveries after thirty days, failed copies
/// and upload addresses after a day, drop pages after thirty days, unused files when the plan says so, samples and
/// workers' rows after a day, agent feedback after 180 days, log-ins and connect sessions after their end, codes and
/// tokens a day after theirs, and the content of letters a day after they were sent. Refunds credits of operations that
/// have not ended in time.
///
/// # Errors
/// The database's.
pub async fn clean_up(cx: &Domain) -> Result<u64> {
    let (now, db) = (cx.clock.now(), &cx.db.write);
    let mut gone = 0;
    let old_keys = idempotency_key::Column::CreatedAt.lt(now - RETENTION);
    let sealed: Vec<_> = idempotency_key::Entity::find()
        .filter(old_keys.clone())
        .filter(idempotency_key::Column::SecretId.is_not_null())
        .all(db)
        .await?;
    let sealed = sealed.into_iter().filter_map(|row| row.secret_id);
    gone += secret::Entity::delete_many()
        .filter(secret::Column::Id.is_in(sealed))
        .exec(db)
        .await?
        .rows_affected;
    gone += idempotency_key::Entity::delete_many().filter(old_keys).exec(db).await?.rows_affected;
    gone += webhook_delivery::Entity::delete_many()
        .filter(webhook_delivery::Column::DueAt.is_null())
        .filter(webhook_delivery::Column::UpdatedAt.lt(now - 30 * DAY))
        .exec(db)
        .await?
        .rows_affected;
    // Ids are indexed and ordered by the time on the machine that made them; `created_at` decides.
    gone += event::Entity::delete_many()
        .filter(event::Column::Id.lt(first_id_at(now - 30 * DAY)))
        .filter(event::Column::CreatedAt.lt(now - 30 * DAY))
        .exec(db)
        .await?
        .rows_affected;
    gone += media::delete_failed(cx, now - DAY).await?;
    gone += media::signed::prune(cx).await?;
    gone += media::guest_uploads::prune(cx).await?;
    gone += media::retention::delete_unused(cx).await?;
    gone += ops::samples::prune(cx).await?;
    gone += ops::fleet::prune(cx).await?;
    gone += ops::sessions::prune(cx).await?;
    gone += sign_in::prune(cx).await? + logins::prune(cx).await?;
    gone += oauth_connect::prune(cx).await? + oauth_provider::prune(cx).await?;
    gone += signup::prune(cx).await? + billing::events::prune(cx, now - 30 * DAY).await?;
    gone += billing::forget_calls(cx, now - 30 * DAY).await?;
    gone += mail::prune(cx).await? + sign_in::links::prune(cx).await?;
    gone += feedback::prune(cx).await? + crate::invitations::prune(cx).await?;
    gone += processes::prune(cx, now - DAY).await? + analytics::prune(cx).await?;
    gone += credits::refund_expired(cx).await?;
    gone += inbox::prune(cx).await? + crate::business::sync::prune(cx).await?;
    Ok(gone)
}

/// Returns the smallest id of a time, since ids begin with their time.
fn first_id_at(time: Millis) -> Uuid {
    uuid::Builder::from_unix_timestamp_millis(time.max(0).unsigned_abs(), &[0; 10]).into_uuid()
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
