//! Reading the business profile of one account.

mod reading;

use fanfare_conversations::{
    business::sync,
    inbox::{factor, shortened},
};
use fanfare_core::{
    Domain, Result,
    durable::{Lease, MAX_LEASE_EXPIRATIONS},
};
use fanfare_entities::{
    Millis,
    account::{self, AccountStatus},
    business_profile,
};
use fanfare_jobs::{JobKind, SyncBusiness};
use fanfare_platforms as platforms;
use fanfare_publishing::{
    accounts,
    background::{self, Budget, IsBusy, Permits, Reaction},
};

use crate::{Context, lease};
use reading::Reading;

const HOUR: Millis = 3_600_000;

/// The interval of readings.
const SYNC_INTERVAL: Millis = 6 * HOUR;

/// Claims a business profile if it is due, and reads it.
pub async fn run(job: SyncBusiness, cx: Context) {
    let row = match sync::claim(&cx.domain, &cx.name, job.id).await {
        Ok(Some(row)) => row,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "claim failed; the profile will be enqueued again");
            return;
        }
    };
    let id = row.account_id.0;
    let held = Lease { id: row.id.0, fencing_token: row.fencing_token };
    let posts_wait = || cx.post_dispatcher.has_waiting_requests();
    let reading = Box::pin(read(&cx.domain, row, &posts_wait));
    if let Err(error) = lease::while_leased(&cx, JobKind::SyncBusiness, held, reading).await {
        tracing::warn!(account.id = id, %error, "a profile is left to its lease");
    }
}

/// Reads a claimed profile, and releases it until the next reading.
async fn read(cx: &Domain, row: business_profile::Model, is_busy: IsBusy<'_>) -> Result<()> {
    let now = cx.clock.now();
    let account = accounts::row(cx, row.account_id).await?;
    let account = account.filter(|account| account.status == AccountStatus::Connected);
    let Some(account) = account else { return sync::finish(cx, &row, None, false, 0).await };
    let after = |time| Some(now + shortened(time, factor(cx, &account)));
    if row.lease_expirations > MAX_LEASE_EXPIRATIONS {
        tracing::error!(account.id = account.id.0, "a profile is left alone for a day");
        return sync::finish(cx, &row, Some(now + 24 * HOUR), false, 0).await;
    }
    let platform = fanfare_publishing::platforms::from_row(&account.platform)?;
    let business = platforms::find(platform).business_profile();
    let (Some(business), Some(session)) = (business, accounts::session(cx, &account).await?) else {
        return sync::finish(cx, &row, None, false, 0).await;
    };
    let budget = Budget { quota: business.quota(), calls: u32::MAX, paced: false };
    let permits = Permits::new(cx, is_busy, (&account, &session), budget);
    let reading = Reading { cx, account: &account, business, session, permits, row: &row };
    match reading.read_all().await? {
        Ok(()) => {
            let next = sync::next_video_check(cx, &account).await?.or_else(|| after(SYNC_INTERVAL));
            sync::finish(cx, &row, next, true, 0).await
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
    sync::finish(cx, row, due_at, false, attempts).await
}
