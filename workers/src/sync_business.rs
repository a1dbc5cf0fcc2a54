//! Reading the business profile of one account.

use fanfare_domain::{business::sync, durable::Lease};
use fanfare_jobs::{JobKind, SyncBusiness};

use crate::{Context, lease};

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
    let reading = Box::pin(sync::run(&cx.domain, row, &posts_wait));
    if let Err(error) = lease::while_leased(&cx, JobKind::SyncBusiness, held, reading).await {
        tracing::warn!(account.id = id, %error, "a profile is left to its lease");
    }
}
