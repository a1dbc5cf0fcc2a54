//! Reads an account's numbers: each turn reads the posts that are due and, once a day, the account's days.
//!
//! A turn makes at most 50 calls; the next turn reads the rest. Readings are written at once, so a turn that ends early
//! loses nothing. Only the worker that still holds the row writes.

mod daily;
mod news;
pub(super) mod posts;
mod reading;
mod refused;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use chrono_tz::Tz;
use fanfare_core::{
    Domain, Tx,
    durable::{self, MAX_LEASE_EXPIRATIONS},
    error::{Error, Result},
};
use fanfare_entities::{AccountId, Millis, account, account::AccountStatus, analytics_sync};
use fanfare_jobs::JobKind;
use fanfare_platforms::{
    self as platforms, Session,
    analytics::{Analytics, FetchContext, Findings},
};
use fanfare_publishing::{
    accounts,
    background::{self, Budget, Permits, Reaction},
    posting_schedule,
};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, DbErr, EntityTrait, QueryFilter, QuerySelect,
};
use serde_json::{Value, json};

use super::{Pace, pace, pace::DAY, reader_of, start};
pub use fanfare_publishing::background::{IsBusy, background_share};

const MINUTE: Millis = 60_000;

/// The most calls in one turn of an account.
const MAX_CALLS: u32 = 50;

/// A metric that the network refused is not requested again within this time.
const REFUSED_FOR: Millis = DAY;

/// The longest duration of the last reading before a disconnect.
const LAST_READING_TIMEOUT: Duration = Duration::from_secs(10);

/// Claims an account's row, if it is due.
///
/// # Errors
/// The database's.
pub async fn claim(cx: &Domain, holder: &str, id: i64) -> Result<Option<analytics_sync::Model>> {
    let now = cx.clock.now();
    let taken = durable::claim(&cx.db.write, JobKind::SyncAnalytics, &[id], (holder, now)).await?;
    Ok(taken.into_iter().next())
}

/// Why a reading stops early.
enum Stop {
    /// The network returned an error.
    Network(platforms::Error),
    /// An internal error.
    Internal(Error),
    /// Another worker has claimed the row.
    LeaseLost,
}

impl From<platforms::Error> for Stop {
    fn from(error: platforms::Error) -> Self {
        Self::Network(error)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Internal(error)
    }
}

impl From<DbErr> for Stop {
    fn from(error: DbErr) -> Self {
        Self::Internal(error.into())
    }
}

/// One turn of an account.
struct Turn<'a> {
    cx: &'a Domain,
    row: analytics_sync::Model,
    account: &'a account::Model,
    network: &'static dyn Analytics,
    pace: Pace,
    permits: &'a Permits<'a>,
    reading: &'a FetchContext<'a>,
    /// The time zone of the account's posting schedule, if the workspace's plan includes derived data. It is read before
    /// any transaction: a transaction that waits for a second connection could wait for ever.
    derives_in: Option<Tz>,
    /// The daily reading was completed in this turn.
    is_day_over: bool,
    /// The number of posts in a row for which the network failed.
    troubles: u32,
}

/// Reads the due numbers of a claimed account, and releases it until the next reading is due.
///
/// # Errors
/// The database's; then its lease expires.
pub async fn run(cx: &Domain, row: analytics_sync::Model, is_busy: IsBusy<'_>) -> Result<()> {
    let now = cx.clock.now();
    let Some(account) = accounts::row(cx, row.id).await? else {
        return start::purge(&cx.db.write, row.id).await;
    };
    if account.status == AccountStatus::Disconnected {
        return match row.purge_at {
            Some(at) if at <= now => start::purge(&cx.db.write, row.id).await,
            due_at => {
                give_back(cx, &row, &Findings::default(), NextSync { due_at, ..NextSync::of(&row) })
                    .await
            }
        };
    }
    let Some(network) =
        reader_of(cx, &account).filter(|_| account.status == AccountStatus::Connected)
    else {
        return give_back(cx, &row, &Findings::default(), NextSync::never(&row)).await;
    };
    if row.lease_expirations > MAX_LEASE_EXPIRATIONS {
        tracing::error!(
            account.id = row.id.0,
            "the numbers of an account are left for a day: workers were lost over it"
        );
        return give_back(cx, &row, &Findings::default(), NextSync::at(now + DAY, &row)).await;
    }
    if token_expires_soon(&account, now) {
        let next = match background::fresh_tokens(cx, &account).await? {
            Reaction::After(wait) => NextSync::at(now + wait, &row),
            _ => NextSync::never(&row),
        };
        return give_back(cx, &row, &Findings::default(), next).await;
    }
    match accounts::session(cx, &account).await? {
        Some(session) => turn(cx, (row, &account, &session), network, is_busy).await,
        None => give_back(cx, &row, &Findings::default(), NextSync::never(&row)).await,
    }
}

/// Reads an account a last time, as far as possible in a few seconds.
pub(crate) async fn read_last(cx: &Domain, account: &account::Model) {
    let reading = async {
        let Some(network) = reader_of(cx, account) else { return Ok(()) };
        let row = analytics_sync::Entity::find_by_id(account.id).one(&cx.db.write).await?;
        let session = accounts::session(cx, account).await?;
        let (Some(row), Some(session)) = (row, session) else { return Ok(()) };
        let row = analytics_sync::Model { daily_at: cx.clock.now(), ..row };
        turn(cx, (row, account, &session), network, &|| false).await
    };
    match tokio::time::timeout(LAST_READING_TIMEOUT, reading).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            tracing::warn!(account.id = account.id.0, %error, "the last reading failed")
        }
        Err(_) => tracing::debug!(account.id = account.id.0, "the last reading took too long"),
    }
}

async fn turn(
    cx: &Domain,
    (row, account, session): (analytics_sync::Model, &account::Model, &Session),
    network: &'static dyn Analytics,
    is_busy: IsBusy<'_>,
) -> Result<()> {
    let budget = Budget { quota: network.quota(), calls: MAX_CALLS, paced: false };
    let permits = Permits::new(cx, is_busy, (account, session), budget);
    let skipped: BTreeSet<String> = skipped_metrics(&row, cx.clock.now()).into_keys().collect();
    let reading = FetchContext::new(session, &permits, &skipped);
    let derives_in = match super::includes_insights(cx, account.workspace_id).await? {
        true => Some(posting_schedule::zone_of(cx, account).await?),
        false => None,
    };
    let mut turn = Turn {
        cx,
        account,
        network,
        pace: pace(cx, account),
        permits: &permits,
        reading: &reading,
        derives_in,
        is_day_over: false,
        troubles: 0,
        row,
    };
    let outcome = turn.read().await;
    let findings = reading.findings();
    turn.end(outcome, &findings).await
}

impl Turn<'_> {
    async fn read(&mut self) -> std::result::Result<(), Stop> {
        self.discover().await?;
        self.read_posts(Some(self.pace.shortened(8 * DAY))).await?;
        self.read_day().await?;
        self.read_posts(None).await
    }

    async fn end(
        mut self,
        outcome: std::result::Result<(), Stop>,
        findings: &Findings,
    ) -> Result<()> {
        let (cx, now) = (self.cx, self.cx.clock.now());
        if self.is_day_over {
            self.row.missing_permissions = json!([]);
        }
        let error = match outcome {
            Ok(()) => {
                let due_at = self.next_due().await?;
                let next = NextSync { due_at: Some(due_at), attempts: 0, synced: self.is_day_over };
                return give_back(cx, &self.row, findings, next).await;
            }
            Err(Stop::LeaseLost) => return Ok(()),
            Err(Stop::Internal(error)) => return Err(error),
            Err(Stop::Network(error)) => error,
        };
        let kind = error.kind;
        tracing::debug!(account.id = self.row.id.0, ?kind, %error, "a reading of numbers stopped");
        let next = match background::react(cx, self.account, &error).await? {
            Reaction::Stop => NextSync::never(&self.row),
            Reaction::After(wait) => NextSync::at(now + wait, &self.row),
            Reaction::Retry | Reaction::Forbidden => {
                let attempts = self.row.attempts.saturating_add(1);
                let due_at = Some(now + self.pace.shortened(background::backoff(attempts)));
                NextSync { due_at, attempts, synced: self.is_day_over }
            }
        };
        give_back(cx, &self.row, findings, next).await
    }

    /// Returns the row, if it is still held, and locks it so that nobody claims it before the transaction ends.
    async fn held(&self, tx: &Tx) -> std::result::Result<analytics_sync::Model, Stop> {
        held(tx, &self.row).await?.ok_or(Stop::LeaseLost)
    }

    /// Returns when the next reading is due.
    async fn next_due(&self) -> Result<Millis> {
        let post = posts::next_at(self.cx, self.row.id).await?;
        Ok(post.map_or(self.row.daily_at, |at| at.min(self.row.daily_at)))
    }
}

/// The columns to write at the end of a turn.
#[derive(Debug, Clone, Copy)]
struct NextSync {
    due_at: Option<Millis>,
    attempts: i32,
    /// The reading succeeded: earlier missing permissions are cleared.
    synced: bool,
}

impl NextSync {
    const fn of(row: &analytics_sync::Model) -> Self {
        Self { due_at: row.due_at, attempts: row.attempts, synced: false }
    }

    const fn at(due_at: Millis, row: &analytics_sync::Model) -> Self {
        Self { due_at: Some(due_at), attempts: row.attempts, synced: false }
    }

    const fn never(row: &analytics_sync::Model) -> Self {
        Self { due_at: None, attempts: row.attempts, synced: false }
    }
}

/// Releases a row until it is due again, and records the outcome.
async fn give_back(
    cx: &Domain,
    row: &analytics_sync::Model,
    findings: &Findings,
    next: NextSync,
) -> Result<()> {
    let mut tx = Tx::begin(cx).await?;
    let Some(stored) = held(&tx, row).await? else { return Ok(()) };
    let now = cx.clock.now();
    let mut refused = skipped_metrics(&stored, now);
    refused.extend(findings.refused.iter().map(|name| (name.clone(), now + REFUSED_FOR)));
    let before = string_list(&stored.missing_permissions).into_iter().filter(|_| !next.synced);
    let missing: BTreeSet<String> =
        before.chain(findings.missing_permissions.iter().cloned()).collect();
    let due_at = match (next.due_at, stored.wake_at) {
        (Some(due_at), Some(wake_at)) => Some(due_at.min(wake_at)),
        (due_at, _) => due_at,
    };
    let changed = analytics_sync::ActiveModel {
        id: Set(row.id),
        due_at: Set(due_at),
        wake_at: Set(None),
        fencing_token: Set(stored.fencing_token + 1),
        lease_expirations: Set(0),
        attempts: Set(next.attempts),
        refused: Set(json!(refused)),
        missing_permissions: Set(json!(missing)),
        updated_at: Set(now),
        ..Default::default()
    };
    changed.update(tx.conn()).await?;
    if let Some(due_at) = due_at {
        tx.enqueue(JobKind::SyncAnalytics, stored.workspace_id, row.id.0, due_at);
    }
    tx.commit().await
}

/// Returns true if the account's tokens have to be refreshed before a call.
fn token_expires_soon(account: &account::Model, now: Millis) -> bool {
    account.refresh_at.is_some() && account.token_expires_at.is_some_and(|end| end <= now + MINUTE)
}

async fn held(tx: &Tx, row: &analytics_sync::Model) -> Result<Option<analytics_sync::Model>> {
    let found = analytics_sync::Entity::find_by_id(row.id)
        .filter(analytics_sync::Column::FencingToken.eq(row.fencing_token))
        .lock_exclusive()
        .one(tx.conn())
        .await?;
    Ok(found)
}

/// Returns the metrics that must not be requested now, and until when.
fn skipped_metrics(row: &analytics_sync::Model, now: Millis) -> BTreeMap<String, Millis> {
    let pairs = row.refused.as_object().into_iter().flatten();
    let pairs = pairs.filter_map(|(name, until)| Some((name.clone(), until.as_i64()?)));
    pairs.filter(|(_, until)| *until > now).collect()
}

/// Returns the strings of a JSON list.
pub(super) fn string_list(column: &Value) -> Vec<String> {
    let list = column.as_array().into_iter().flatten();
    list.filter_map(|one| one.as_str().map(str::to_owned)).collect()
}

/// Returns the row for the readings of an account.
pub(super) async fn row(cx: &Domain, id: AccountId) -> Result<Option<analytics_sync::Model>> {
    Ok(analytics_sync::Entity::find_by_id(id).one(&cx.db.read).await?)
}
