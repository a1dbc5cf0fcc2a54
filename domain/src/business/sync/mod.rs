//! Reads business profiles: the location's record, its reviews and its media.

mod facts;
mod reading;
mod store;

pub(super) use self::facts::{fresh_profile, request_sync_if_stale};
use fanfare_entities::{
    Millis,
    account::{self, AccountStatus},
    business_media::{self, BusinessMediaStatus},
    business_profile::{self, Column},
    business_review,
};
use fanfare_jobs::JobKind;
use fanfare_platforms as platforms;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, sea_query::OnConflict,
};
use serde_json::Value;

use self::reading::Reading;
use crate::{
    Domain, accounts,
    background::{self, Budget, IsBusy, Permits, Reaction},
    batches,
    durable::{self, Lease, MAX_LEASE_EXPIRATIONS},
    error::Result,
    events::NewEvent,
    inbox::{factor, shortened},
};

const MINUTE: Millis = 60_000;

/// The maximum age of the location's record when it is shown.
pub(crate) const HOUR: Millis = 60 * MINUTE;

/// The interval of readings, and the age of reviews at which a reading is requested.
const SYNC_INTERVAL: Millis = 6 * HOUR;

/// The times after the upload at which a video is checked, and at which it is given up.
const VIDEO_CHECKS: [Millis; 3] = [5 * MINUTE, 15 * MINUTE, 60 * MINUTE];

/// Adds the row that reads a profile, in the transaction that connects its account.
///
/// # Errors
/// The database's.
pub(crate) async fn on_connect<C: ConnectionTrait>(
    conn: &C,
    account: &account::Model,
    now: Millis,
) -> Result<()> {
    let platform = crate::platforms::from_row(&account.platform)?;
    if platforms::find(platform).business_profile().is_none() {
        return Ok(());
    }
    let row = business_profile::ActiveModel {
        workspace_id: Set(account.workspace_id),
        account_id: Set(account.id),
        posts_known: Set(false),
        backfilled: Set(false),
        due_at: Set(Some(now + MINUTE)),
        fencing_token: Set(0),
        attempts: Set(0),
        lease_expirations: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    let known = OnConflict::column(Column::AccountId)
        .update_columns([Column::DueAt, Column::Attempts])
        .to_owned();
    business_profile::Entity::insert(row).on_conflict(known).exec_without_returning(conn).await?;
    Ok(())
}

/// Claims a profile, if it is due.
///
/// # Errors
/// The database's.
pub async fn claim(cx: &Domain, holder: &str, id: i64) -> Result<Option<business_profile::Model>> {
    let now = cx.clock.now();
    let taken = durable::claim(&cx.db.write, JobKind::SyncBusiness, &[id], (holder, now)).await?;
    Ok(taken.into_iter().next())
}

/// Reads a claimed profile, and releases it until the next reading.
///
/// # Errors
/// The database's; then its lease expires.
pub async fn run(cx: &Domain, row: business_profile::Model, is_busy: IsBusy<'_>) -> Result<()> {
    let now = cx.clock.now();
    let account = accounts::row(cx, row.account_id).await?;
    let account = account.filter(|account| account.status == AccountStatus::Connected);
    let Some(account) = account else { return finish(cx, &row, None, false, 0).await };
    let after = |time| Some(now + shortened(time, factor(cx, &account)));
    if row.lease_expirations > MAX_LEASE_EXPIRATIONS {
        tracing::error!(account.id = account.id.0, "a profile is left alone for a day");
        return finish(cx, &row, Some(now + 24 * HOUR), false, 0).await;
    }
    let platform = crate::platforms::from_row(&account.platform)?;
    let business = platforms::find(platform).business_profile();
    let (Some(business), Some(session)) = (business, accounts::session(cx, &account).await?) else {
        return finish(cx, &row, None, false, 0).await;
    };
    let budget = Budget { quota: business.quota(), calls: u32::MAX, paced: false };
    let permits = Permits::new(cx, is_busy, (&account, &session), budget);
    let reading = Reading { cx, account: &account, business, session, permits, row: &row };
    match reading.read_all().await? {
        Ok(()) => {
            let next = next_video_check(cx, &account).await?.or_else(|| after(SYNC_INTERVAL));
            finish(cx, &row, next, true, 0).await
        }
        Err(error) => failed(cx, &account, &row, &error).await,
    }
}

async fn failed(
    cx: &Domain,
    account: &account::Model,
    row: &business_profile::Model,
    error: &platforms::Error,
) -> Result<()> {
    let now = cx.clock.now();
    tracing::info!(account.id = account.id.0, kind = ?error.kind, "a profile was not read");
    let attempts = row.attempts.saturating_add(1);
    let (due_at, attempts) = match background::react(cx, account, error).await? {
        Reaction::Stop => (None, attempts),
        Reaction::After(wait) => (Some(now + wait), row.attempts),
        Reaction::Retry | Reaction::Forbidden => {
            let wait = shortened(background::backoff(attempts), factor(cx, account));
            (Some(now + wait), attempts)
        }
    };
    finish(cx, row, due_at, false, attempts).await
}

/// Returns when a video that the network is reviewing is checked next.
async fn next_video_check(cx: &Domain, account: &account::Model) -> Result<Option<Millis>> {
    let now = cx.clock.now();
    let short = |time| shortened(time, factor(cx, account));
    let waiting = business_media::Entity::find()
        .filter(business_media::Column::AccountId.eq(account.id))
        .filter(business_media::Column::Status.eq(BusinessMediaStatus::InReview))
        .all(&cx.db.read)
        .await?;
    let next = |row: &business_media::Model| {
        let looks = VIDEO_CHECKS.iter().map(|after| row.created_at + short(*after));
        looks.into_iter().find(|at| *at > now)
    };
    Ok(waiting.iter().filter_map(next).min())
}

async fn finish(
    cx: &Domain,
    row: &business_profile::Model,
    due_at: Option<Millis>,
    synced: bool,
    attempts: i32,
) -> Result<()> {
    let now = cx.clock.now();
    let change = business_profile::ActiveModel {
        backfilled: Set(row.backfilled || synced),
        synced_at: Set(if synced { Some(now) } else { row.synced_at }),
        attempts: Set(attempts),
        ..Default::default()
    };
    let lease = Lease::new(row.id.0, row.fencing_token);
    durable::give_back::<business_profile::Entity>(lease, due_at, now)
        .set(change)
        .exec(&cx.db.write)
        .await?;
    Ok(())
}

/// Deletes the profiles of disconnected accounts.
///
/// # Errors
/// The database's.
pub(crate) async fn prune(cx: &Domain) -> Result<u64> {
    let mut deleted = 0;
    for accounts in accounts::newly_disconnected(cx).await?.chunks(accounts::FEW) {
        let accounts = || accounts.iter().copied();
        let account = business_review::Column::AccountId;
        let of_them = account.is_in(accounts());
        deleted += batches::delete::<business_review::Entity>(cx, account, of_them).await?;
        let account = business_media::Column::AccountId;
        let of_them = account.is_in(accounts());
        deleted += batches::delete::<business_media::Entity>(cx, account, of_them).await?;
        let account = Column::AccountId;
        let of_them = account.is_in(accounts());
        deleted += batches::delete::<business_profile::Entity>(cx, account, of_them).await?;
    }
    Ok(deleted)
}

/// Returns an event about an account.
pub(super) fn event(
    account: &account::Model,
    event_type: &'static str,
    streamed: bool,
    data: &Value,
    message: String,
) -> NewEvent {
    NewEvent {
        workspace_id: account.workspace_id,
        event_type,
        streamed,
        data: data.to_string(),
        post_id: None,
        account_id: Some(account.id),
        brand_id: account.brand_id,
        platform: Some(account.platform.clone()),
        status: None,
        message,
        request_id: None,
    }
}
