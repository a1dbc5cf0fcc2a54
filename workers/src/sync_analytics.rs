//! Reading the numbers of an account and its posts.

use fanfare_core::durable::{self, LEASE, Lease};
use fanfare_insight::analytics::sync;
use fanfare_jobs::{JobKind, SyncAnalytics};

use crate::{Context, lease};

/// Claims an account's analytics if they are due, and reads them.
pub async fn run(job: SyncAnalytics, cx: Context) {
    let row = match sync::claim(&cx.domain, &cx.name, job.id).await {
        Ok(Some(row)) => row,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "claim failed; the row will be enqueued again");
            return;
        }
    };
    let lease = Lease { id: row.id.0, fencing_token: row.fencing_token };
    cx.failpoint.reach("analytics_claimed").await;
    let posts_wait = || cx.post_dispatcher.has_waiting_requests();
    let reading = Box::pin(sync::run(&cx.domain, row, &posts_wait));
    if let Err(error) = lease::while_leased(&cx, JobKind::SyncAnalytics, lease, reading).await {
        tracing::warn!(account.id = lease.id, %error, "reading numbers failed; it is tried again");
        let at = cx.now() + LEASE;
        let released = durable::release(&cx.domain, JobKind::SyncAnalytics, &[lease], at).await;
        if let Err(error) = released {
            tracing::debug!(%error, "a row is left to its lease");
        }
    }
}
