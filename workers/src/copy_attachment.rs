//! Copying one file that came to an inbox, or removing the copy.

use fanfare_domain::{durable::Lease, inbox::files};
use fanfare_jobs::{CopyAttachment, JobKind};

use crate::{Context, lease};

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
    let working = Box::pin(files::run(&cx.domain, row, cx.post_dispatcher.has_waiting_requests()));
    if let Err(error) = lease::while_leased(&cx, JobKind::CopyAttachment, held, working).await {
        tracing::warn!(file.id = id, %error, "a file of an inbox is left to its lease");
    }
}
