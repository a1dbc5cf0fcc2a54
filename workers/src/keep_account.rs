//! Keeping one account usable.

use fanfare_core::AccountId;
use fanfare_jobs::KeepAccount;
use fanfare_publishing::accounts::upkeep;

use crate::Context;

/// Claims an account if its upkeep is due, and does what it needs.
pub async fn run(job: KeepAccount, cx: Context) {
    let row = match upkeep::claim(&cx.domain, &cx.name, AccountId(job.id)).await {
        Ok(Some(row)) => row,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "claim failed; the row will be enqueued again");
            return;
        }
    };
    let id = row.id.0;
    cx.failpoint.reach("account_claimed").await;
    if let Err(error) = upkeep::run(&cx.domain, row).await {
        tracing::warn!(account.id = id, %error, "an account is left to its lease");
    }
}
