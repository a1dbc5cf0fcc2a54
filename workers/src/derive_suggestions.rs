//! Suggesting posts for an account.

use fanfare_domain::analytics::suggestions;
use fanfare_jobs::DeriveSuggestions;

use crate::Context;

/// Suggests posts for an account, if it is time and nobody else does.
pub async fn run(job: DeriveSuggestions, cx: Context) {
    let row = match suggestions::claim(&cx.domain, &cx.name, job.account_id).await {
        Ok(Some(row)) => row,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "claim failed; the row will be enqueued again");
            return;
        }
    };
    let id = row.id.0;
    cx.failpoint.reach("suggestions_claimed").await;
    if let Err(error) = suggestions::run(&cx.domain, row).await {
        tracing::warn!(account.id = id, %error, "suggestions were not made; the row is left to its lease");
    }
}
