//! Copying one file that came to an inbox, or removing the copy.

use fanfare_conversations::inbox::files::{self, CopyOutcome};
use fanfare_core::{
    Domain, Error, Result,
    durable::{self, Lease, MAX_LEASE_EXPIRATIONS},
};
use fanfare_entities::{Millis, inbox_file};
use fanfare_jobs::{CopyAttachment, JobKind};
use fanfare_media::{CopyError, copy_attachment};
use url::Url;

use crate::{Context, lease};

/// The largest file that is copied, in bytes.
const MAX_BYTES: u64 = 25_000_000;

/// The most attempts to copy a file.
const MAX_ATTEMPTS: i32 = 4;

/// The delay of a copy while posts wait for slots, in ms.
const BUSY_DELAY: Millis = 1_000;

/// Claims a file of an inbox if it is due, and copies or removes it.
pub async fn run(job: CopyAttachment, cx: Context) {
    let row = match files::claim(&cx.domain, &cx.name, job.id).await {
        Ok(Some(row)) => row,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "claim failed; the file will be enqueued again");
            return;
        }
    };
    let id = row.id.0;
    cx.failpoint.reach("attachment_claimed").await;
    let held = Lease { id, fencing_token: row.fencing_token };
    let posts_wait = cx.post_dispatcher.has_waiting_requests();
    let working = Box::pin(copy_or_remove(&cx.domain, row, posts_wait));
    if let Err(error) = lease::while_leased(&cx, JobKind::CopyAttachment, held, working).await {
        tracing::warn!(file.id = id, %error, "a file of an inbox is left to its lease");
    }
}

/// Copies a claimed file, or removes its copy if it is not needed any more. Posts take precedence.
async fn copy_or_remove(cx: &Domain, row: inbox_file::Model, posts_wait: bool) -> Result<()> {
    if !row.kept {
        return remove(cx, &row).await;
    }
    if posts_wait && row.lease_expirations <= MAX_LEASE_EXPIRATIONS {
        let lease = Lease::new(row.id.0, row.fencing_token);
        return durable::release(
            cx,
            JobKind::CopyAttachment,
            &[lease],
            cx.clock.now() + BUSY_DELAY,
        )
        .await;
    }
    let outcome = copy(cx, &row).await;
    cx.failpoint.reach("attachment_stored").await;
    let path = match &outcome {
        CopyOutcome::Stored(file) => Some(file.path.clone()),
        CopyOutcome::Without(_) | CopyOutcome::Again => None,
    };
    let is_written = files::finish(cx, &row, outcome).await?;
    if let Some(path) = path.filter(|_| !is_written) {
        cx.store.delete(&path).await.map_err(Error::internal)?;
    }
    Ok(())
}

async fn copy(cx: &Domain, row: &inbox_file::Model) -> CopyOutcome {
    let url = row.source.as_deref().and_then(|url| Url::parse(url).ok());
    let Some(url) = url.filter(|_| row.lease_expirations <= MAX_LEASE_EXPIRATIONS) else {
        return CopyOutcome::Without("unavailable");
    };
    let (http, prefix) = (cx.http.counted_as("media"), files::folder(row));
    match copy_attachment(&cx.store, &http, &url, &prefix, MAX_BYTES).await {
        Ok(copied) => CopyOutcome::Stored(copied.file),
        Err(CopyError::NotAllowed(_)) => CopyOutcome::Without("not_allowed"),
        Err(CopyError::TooLarge { .. }) => CopyOutcome::Without("too_large"),
        Err(CopyError::Unavailable { retryable: true, .. } | CopyError::Store(_))
            if row.attempts + 1 < MAX_ATTEMPTS =>
        {
            CopyOutcome::Again
        }
        Err(_) => CopyOutcome::Without("unavailable"),
    }
}

/// Removes a copy and then its row, so that an interruption in between is repaired by the row.
async fn remove(cx: &Domain, row: &inbox_file::Model) -> Result<()> {
    if let Some(path) = &row.path {
        cx.store.delete(path).await.map_err(Error::internal)?;
    }
    files::delete(cx, row).await
}
