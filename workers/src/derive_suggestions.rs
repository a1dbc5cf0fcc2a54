//! Derives suggestions of posts for an account.

use fanfare_core::durable::Lease;
use fanfare_insight::analytics::suggestions;
use fanfare_jobs::{DeriveSuggestions, JobKind};

use crate::{Context, lease};

/// Claims an account's round of suggestions if it is due, and derives them.
pub async fn run(job: DeriveSuggestions, cx: Context) {
    let row = match suggestions::claim(&cx.domain, &cx.name, job.id).await {
        Ok(Some(row)) => row,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "claim failed; the row will be enqueued again");
            return;
        }
    };
    let id = row.id.0;
    cx.failpoint.reach("suggestions_claimed").await;
    let held = Lease { id, fencing_token: row.fencing_token };
    let deriving = Box::pin(suggestions::run(&cx.domain, row));
    if let Err(error) = lease::while_leased(&cx, JobKind::DeriveSuggestions, held, deriving).await {
        tracing::warn!(account.id = id, %error, "suggestions were not made; the row is left to its lease");
    }
}
