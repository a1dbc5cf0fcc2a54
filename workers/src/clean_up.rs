//! Removes what is past its time, and runs the other chores.

use std::time::{Duration, SystemTime};

use fanfare_core::{Domain, durable::Lease};
use fanfare_jobs::{CleanUp, JobKind};
use fanfare_ops::upkeep;
use fanfare_people::{
    billing::{reconcile, subscriptions},
    credits,
};
use fanfare_publishing::media::orphans;

use crate::{Context, lease};

/// The age at which a file is removed that a killed process left unfinished.
const UNFINISHED_AGE: Duration = Duration::from_secs(24 * 3_600);

/// Creates the rows of the chores if they are missing.
pub async fn ensure(cx: &Domain) {
    // The counters exist before they first rise, so that the alarms see them rise.
    fanfare_metrics::record::wallet_mismatches(0);
    fanfare_metrics::record::unsettled_payments(0);
    if let Err(error) = upkeep::ensure(cx).await {
        tracing::warn!(%error, "the clean-up could not be set up; the next start tries again");
    }
}

/// Claims a chore if it is due, and runs it.
pub async fn run(job: CleanUp, cx: Context) {
    let row = match upkeep::claim(&cx.domain, &cx.name, job.id).await {
        Ok(Some(row)) => row,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "claim failed; the row will be enqueued again");
            return;
        }
    };
    let lease = Lease { id: row.id.0, fencing_token: row.fencing_token };
    match row.name.as_str() {
        // A walk over a large bucket outlasts a lease.
        upkeep::FIND_ORPHANS => {
            lease::while_leased(&cx, JobKind::CleanUp, lease, find_orphans(&cx)).await
        }
        upkeep::REFRESH_SUBSCRIPTIONS => {
            lease::while_leased(&cx, JobKind::CleanUp, lease, refresh_subscriptions(&cx)).await;
        }
        upkeep::REFUND_CREDITS => {
            lease::while_leased(&cx, JobKind::CleanUp, lease, refund_credits(&cx)).await;
        }
        upkeep::CHECK_WALLETS => {
            lease::while_leased(&cx, JobKind::CleanUp, lease, check_wallets(&cx)).await;
        }
        _ => lease::while_leased(&cx, JobKind::CleanUp, lease, clean_up(&cx)).await,
    }
    if let Err(error) = upkeep::finish(&cx.domain, &row).await {
        tracing::debug!(%error, "the clean-up is left to its lease");
    }
}

async fn clean_up(cx: &Context) {
    let done = upkeep::clean_up(&cx.domain).await;
    tracing::debug!(rows = done.rows, failed = ?done.failed, "cleaned up");
    let yesterday = SystemTime::now() - UNFINISHED_AGE;
    if let Err(error) = cx.domain.store.remove_unfinished(yesterday).await {
        tracing::warn!(%error, "unfinished media files were not removed; they are tried again later");
    }
}

async fn refresh_subscriptions(cx: &Context) {
    match subscriptions::refresh_all(&cx.domain).await {
        Ok(0) => {}
        Ok(read) => tracing::info!(subscriptions = read, "subscriptions were read at Stripe"),
        Err(error) => {
            tracing::warn!(%error, "subscriptions were not read at Stripe; it is tried again later");
        }
    }
    if let Err(error) = reconcile::checkouts(&cx.domain).await {
        tracing::warn!(%error, "payments were not compared with Stripe's; it is tried again later");
    }
}

async fn refund_credits(cx: &Context) {
    if let Err(error) = credits::refund_expired(&cx.domain).await {
        tracing::warn!(%error, "credits were not refunded; it is tried again later");
    }
}

async fn check_wallets(cx: &Context) {
    if let Err(error) = credits::check(&cx.domain).await {
        tracing::warn!(%error, "wallets were not compared with their ledgers; it is tried again later");
    }
}

async fn find_orphans(cx: &Context) {
    match orphans::remove_orphans(&cx.domain, SystemTime::now() - orphans::MIN_AGE).await {
        Ok(0) => {}
        Ok(gone) => {
            tracing::info!(files = gone, "media files that belonged to nothing were removed")
        }
        Err(error) => {
            tracing::warn!(%error, "the media store was not looked through; it is tried again later")
        }
    }
}
