//! Reading the inbox of one account.

mod reading;

use std::sync::atomic::AtomicUsize;

use fanfare_conversations::inbox::{
    factor, shortened,
    sync::{self, SyncOutcome},
};
use fanfare_core::{
    Domain, Result,
    durable::{Lease, MAX_LEASE_EXPIRATIONS},
};
use fanfare_entities::{
    Millis,
    account::{self, AccountStatus},
    inbox_sync,
};
use fanfare_jobs::{JobKind, SyncInbox};
use fanfare_platforms as platforms;
use fanfare_publishing::{
    accounts,
    background::{self, Budget, IsBusy, Permits, Reaction},
};

use crate::{Context, lease};
use reading::Reading;

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;

/// The interval for accounts whose network sends webhooks.
const WITH_WEBHOOKS: Millis = 6 * HOUR;

/// The intervals for all others: if something arrived within a day, and otherwise.
const BUSY: Millis = 5 * MINUTE;
const QUIET: Millis = 30 * MINUTE;

/// Claims an inbox if it is due, and reads it.
pub async fn run(job: SyncInbox, cx: Context) {
    let row = match sync::claim(&cx.domain, &cx.name, job.id).await {
        Ok(Some(row)) => row,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "claim failed; the inbox will be enqueued again");
            return;
        }
    };
    let id = row.account_id.0;
    let held = Lease { id: row.id.0, fencing_token: row.fencing_token };
    let posts_wait = || cx.post_dispatcher.has_waiting_requests();
    let reading = Box::pin(read(&cx.domain, row, &posts_wait));
    if let Err(error) = lease::while_leased(&cx, JobKind::SyncInbox, held, reading).await {
        tracing::warn!(account.id = id, %error, "an inbox is left to its lease");
    }
}

/// Reads the inbox of a claimed account, and releases it until the next reading.
async fn read(cx: &Domain, row: inbox_sync::Model, is_busy: IsBusy<'_>) -> Result<()> {
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
    let Some(account) = account else { return sync::finish(cx, &row, rest).await };
    let short = |time| shortened(time, factor(cx, &account));
    if row.lease_expirations > MAX_LEASE_EXPIRATIONS {
        tracing::error!(account.id = account.id.0, "an inbox is left alone for a day");
        return sync::finish(cx, &row, SyncOutcome { due_at: Some(now + 24 * HOUR), ..rest }).await;
    }
    if !sync::has_inbox_plan(cx, account.workspace_id).await? {
        return sync::finish(
            cx,
            &row,
            SyncOutcome { due_at: Some(now + short(WITH_WEBHOOKS)), ..rest },
        )
        .await;
    }
    let platform = fanfare_publishing::platforms::from_row(&account.platform)?;
    let Some(inbox) = platforms::find(platform).inbox() else {
        return sync::finish(cx, &row, rest).await;
    };
    let Some(session) = accounts::session(cx, &account).await? else {
        return sync::finish(cx, &row, rest).await;
    };
    let budget = Budget { quota: inbox.quota(), calls: u32::MAX, paced: true };
    let permits = Permits::new(cx, is_busy, (&account, &session), budget);
    let unread = AtomicUsize::new(0);
    let read = Reading { cx, account: &account, inbox, session, permits, row: &row, unread };
    let (subscribed, answer) = read.read_all().await?;
    let next = next(cx, &account, &row, subscribed, answer).await?;
    sync::finish(cx, &row, next).await
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
            let hears = subscribed
                && (account.sandbox
                    || fanfare_conversations::settings(cx).meta.verify_token.is_some());
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
