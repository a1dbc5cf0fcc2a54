//! The rows that have business profiles read: the location's record, its reviews and its media.

mod facts;
mod statements;
mod store;

pub(super) use self::facts::{fresh_profile, request_sync_if_stale};
pub(crate) use self::statements::lock;
pub use self::{
    facts::store_facts,
    statements::{end_reviews, settle_media, store_media, store_reviews},
};
use fanfare_core::{
    Domain, batches,
    durable::{self, Lease},
    error::Result,
    events::NewEvent,
};
use fanfare_entities::{
    Millis, account,
    business_media::{self, BusinessMediaStatus},
    business_profile::{self, Column},
    business_review,
};
use fanfare_jobs::JobKind;
use fanfare_platforms as platforms;
use fanfare_publishing::accounts;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, sea_query::OnConflict,
};
use serde_json::Value;

use crate::inbox::{factor, shortened};

const MINUTE: Millis = 60_000;

/// The maximum age of the location's record when it is shown.
pub(crate) const HOUR: Millis = 60 * MINUTE;

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
    let platform = fanfare_publishing::platforms::from_row(&account.platform)?;
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

/// Returns when a video that the network is reviewing is checked next.
///
/// # Errors
/// The database's.
pub async fn next_video_check(cx: &Domain, account: &account::Model) -> Result<Option<Millis>> {
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

/// Releases a profile until `due_at`; `synced` says that all of it was read.
///
/// # Errors
/// The database's; then its lease expires.
pub async fn finish(
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
pub async fn prune(cx: &Domain) -> Result<u64> {
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
    accounts::account_event(account, (event_type, streamed), data, message)
}
