//! Sweeping away what is past its time.

use std::time::Duration;

use fanfare_domain::{Domain, upkeep, work::Hold};
use fanfare_jobs::CleanUp;

use crate::Context;

/// A file that a killed process left unfinished this long ago is removed.
const UNFINISHED: Duration = Duration::from_secs(24 * 3_600);

/// Makes sure that there is a row for this work.
pub async fn ensure(cx: &Domain) {
    if let Err(error) = upkeep::ensure(cx).await {
        tracing::warn!(%error, "the clean-up could not be set up; the next start tries again");
    }
}

/// Cleans up, if it is due and nobody else does.
pub async fn run(job: CleanUp, cx: Context) {
    let row = match upkeep::claim(&cx.domain, job.chore_id).await {
        Ok(Some(row)) => row,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "the clean-up could not be claimed; it is rung for again");
            return;
        }
    };
    match upkeep::clean_up(&cx.domain).await {
        Ok(gone) => tracing::debug!(rows = gone, "cleaned up"),
        Err(error) => tracing::warn!(%error, "the clean-up failed; it is tried again later"),
    }
    let yesterday = std::time::SystemTime::now() - UNFINISHED;
    if let Err(error) = cx.domain.store.remove_unfinished(yesterday).await {
        tracing::warn!(%error, "unfinished media files were not removed; they are tried again later");
    }
    let hold = Hold { id: row.id.0, fence: row.fence };
    if let Err(error) = upkeep::finish(&cx.domain, hold).await {
        tracing::debug!(%error, "the clean-up is left to its lease");
    }
}
