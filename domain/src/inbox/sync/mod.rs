//! Reads the inboxes of accounts: items from before they were connected, and those that no webhook reported.

mod reading;
mod request;

use fanfare_entities::{
    Millis, WorkspaceId,
    account::{self, AccountStatus},
    inbox_sync::{self, Column},
    subscription,
};
use fanfare_jobs::JobKind;
use fanfare_platforms as platforms;
use sea_orm::{ActiveValue::Set, ConnectionTrait, EntityTrait, sea_query::OnConflict};

use self::reading::Reading;
use super::{factor, shortened};
use crate::{
    Domain,
    access::PlanTier,
    accounts,
    background::{self, Budget, IsBusy, Permits, Reaction},
    durable::{self, Lease, MAX_LEASE_EXPIRATIONS},
    error::Result,
};

pub use self::request::{SyncRequest, SyncRequestedList, SyncStatus, request};

const MINUTE: Millis = 60_000;

const HOUR: Millis = 60 * MINUTE;

/// The interval for accounts whose network sends webhooks.
const WITH_WEBHOOKS: Millis = 6 * HOUR;

/// The intervals for all others: if something arrived within a day, and otherwise.
const BUSY: Millis = 5 * MINUTE;
const QUIET: Millis = 30 * MINUTE;

/// Adds the row that reads an inbox, in the transaction that connects its account.
///
/// # Errors
/// The database's.
pub(crate) async fn on_connect<C: ConnectionTrait>(
    conn: &C,
    account: &account::Model,
    now: Millis,
) -> Result<()> {
    let platform: platforms::PlatformId = crate::platforms::from_row(&account.platform)?;
    if platforms::find(platform).inbox().is_none() {
        return Ok(());
    }
    let due_at = now + shortened(MINUTE, if account.sandbox { 1.0 } else { 60.0 });
    let row = inbox_sync::ActiveModel {
        workspace_id: Set(account.workspace_id),
        account_id: Set(account.id),
        backfilled: Set(false),
        needs_permission: Set(false),
        due_at: Set(Some(due_at)),
        fencing_token: Set(0),
        attempts: Set(0),
        lease_expirations: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    let known = OnConflict::column(Column::AccountId)
        .update_columns([Column::DueAt, Column::NeedsPermission, Column::Attempts])
        .to_owned();
    inbox_sync::Entity::insert(row).on_conflict(known).exec_without_returning(conn).await?;
    Ok(())
}

/// Returns true if a workspace's plan includes the inbox.
///
/// # Errors
/// The database's.
pub(super) async fn has_inbox_plan(cx: &Domain, workspace: WorkspaceId) -> Result<bool> {
    let paid = subscription::Entity::find_by_id(workspace).one(&cx.db.read).await?;
    Ok(paid.is_some_and(|paid| paid.active && paid.plan_tier >= PlanTier::Pro))
}

/// Claims an account's inbox, if it is due.
///
/// # Errors
/// The database's.
pub async fn claim(cx: &Domain, holder: &str, id: i64) -> Result<Option<inbox_sync::Model>> {
    let now = cx.clock.now();
    let taken = durable::claim(&cx.db.write, JobKind::SyncInbox, &[id], (holder, now)).await?;
    Ok(taken.into_iter().next())
}

/// The outcome of a reading.
struct SyncOutcome {
    due_at: Option<Millis>,
    synced: bool,
    subscribed: bool,
    needs_permission: bool,
    attempts: i32,
}

/// Reads the inbox of a claimed account, and releases it until the next reading.
///
/// # Errors
/// The database's; then its lease expires.
pub async fn run(cx: &Domain, row: inbox_sync::Model, is_busy: IsBusy<'_>) -> Result<()> {
    let now = cx.clock.now();
    let account = accounts::row(cx, row.account_id).await?;
    let account = account.filter(|account| account.status == AccountStatus::Connected);
    let rest = SyncOutcome {
        due_at: None,
        synced: false,
        subscribed: row.subscribed_at.is_some(),
        needs_permission: row.needs_permission,
        attempts: 0,
    };
    let Some(account) = account else { return finish(cx, &row, rest).await };
    let short = |time| shortened(time, factor(cx, &account));
    if row.lease_expirations > MAX_LEASE_EXPIRATIONS {
        tracing::error!(account.id = account.id.0, "an inbox is left alone for a day");
        return finish(cx, &row, SyncOutcome { due_at: Some(now + 24 * HOUR), ..rest }).await;
    }
    if !has_inbox_plan(cx, account.workspace_id).await? {
        return finish(cx, &row, SyncOutcome { due_at: Some(now + short(WITH_WEBHOOKS)), ..rest })
            .await;
    }
    let platform = crate::platforms::from_row(&account.platform)?;
    let Some(inbox) = platforms::find(platform).inbox() else {
        return finish(cx, &row, rest).await;
    };
    let Some(session) = accounts::session(cx, &account).await? else {
        return finish(cx, &row, rest).await;
    };
    let budget = Budget { quota: inbox.quota(), calls: u32::MAX, paced: true };
    let permits = Permits::new(cx, is_busy, (&account, &session), budget);
    let read = Reading { cx, account: &account, inbox, session, permits, row: &row };
    let (subscribed, answer) = read.read_all().await?;
    let next = next(cx, &account, &row, subscribed, answer).await?;
    finish(cx, &row, next).await
}

/// Decides when an inbox is read again.
async fn next(
    cx: &Domain,
    account: &account::Model,
    row: &inbox_sync::Model,
    subscribed: bool,
    answer: platforms::Result<bool>,
) -> Result<SyncOutcome> {
    let now = cx.clock.now();
    let short = |time| shortened(time, factor(cx, account));
    let attempts = row.attempts.saturating_add(1);
    let after = |time: Millis| Some(now + short(time));
    let failed = SyncOutcome {
        due_at: after(background::backoff(attempts)),
        synced: false,
        subscribed,
        needs_permission: false,
        attempts,
    };
    let error = match answer {
        Ok(busy) => {
            let hears = subscribed && (account.sandbox || cx.settings.meta.verify_token.is_some());
            let every = match (hears, busy) {
                (true, _) => WITH_WEBHOOKS,
                (false, true) => BUSY,
                (false, false) => QUIET,
            };
            return Ok(SyncOutcome { due_at: after(every), synced: true, attempts: 0, ..failed });
        }
        Err(error) => error,
    };
    tracing::info!(account.id = account.id.0, kind = ?error.kind, "an inbox was not read");
    Ok(match background::react(cx, account, &error).await? {
        Reaction::Stop => SyncOutcome { due_at: None, ..failed },
        Reaction::After(wait) => {
            SyncOutcome { due_at: Some(now + wait), attempts: row.attempts, ..failed }
        }
        Reaction::Forbidden => {
            SyncOutcome { due_at: after(WITH_WEBHOOKS), needs_permission: true, ..failed }
        }
        Reaction::Retry => failed,
    })
}

async fn finish(cx: &Domain, row: &inbox_sync::Model, outcome: SyncOutcome) -> Result<()> {
    let now = cx.clock.now();
    let change = inbox_sync::ActiveModel {
        backfilled: Set(row.backfilled || outcome.synced),
        subscribed_at: Set(row.subscribed_at.or(outcome.subscribed.then_some(now))),
        last_synced_at: Set(if outcome.synced { Some(now) } else { row.last_synced_at }),
        needs_permission: Set(outcome.needs_permission),
        attempts: Set(outcome.attempts),
        ..Default::default()
    };
    let lease = Lease::new(row.id.0, row.fencing_token);
    durable::give_back::<inbox_sync::Entity>(lease, outcome.due_at, now)
        .set(change)
        .exec(&cx.db.write)
        .await?;
    Ok(())
}
