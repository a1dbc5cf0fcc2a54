//! Going on with the deletion of a workspace.

use fanfare_core::durable::{Lease, MAX_LEASE_EXPIRATIONS};
use fanfare_jobs::{DeleteWorkspace, JobKind};
use fanfare_ops::workspace_deletion as deletions;

use crate::{Context, lease};

/// Claims a deletion if there is something to do, and goes on with it.
pub async fn run(job: DeleteWorkspace, cx: Context) {
    let row = match deletions::claim(&cx.domain, &cx.name, job.id).await {
        Ok(Some(row)) => row,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "claim failed; the row will be enqueued again");
            return;
        }
    };
    cx.failpoint.reach("deletion_claimed").await;
    let (id, held) = (row.uid, Lease { id: row.id.0, fencing_token: row.fencing_token });
    let done = if row.lease_expirations > MAX_LEASE_EXPIRATIONS {
        tracing::error!(deletion.id = %id, "a deletion is put off: its workers ended again and again");
        deletions::put_off(&cx.domain, row).await
    } else {
        let working = Box::pin(deletions::run(&cx.domain, row));
        lease::while_leased(&cx, JobKind::DeleteWorkspace, held, working).await
    };
    if let Err(error) = done {
        tracing::warn!(deletion.id = %id, %error, "a deletion is left to its lease");
    }
}
