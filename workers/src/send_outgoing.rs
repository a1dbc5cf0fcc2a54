//! Makes one change on a network that the request which asked for it did not finish.

use fanfare_domain::{durable::Lease, outgoing};
use fanfare_jobs::{JobKind, SendOutgoing};

use crate::{Context, lease};

/// Claims a change if it is due, and makes it or finds out whether it was made.
pub async fn run(job: SendOutgoing, cx: Context) {
    let row = match outgoing::claim(&cx.domain, &cx.name, job.id).await {
        Ok(Some(row)) => row,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "claim failed; the change will be enqueued again");
            return;
        }
    };
    let id = row.id.0;
    cx.failpoint.reach("outgoing_claimed").await;
    let held = Lease { id, fencing_token: row.fencing_token };
    let making = Box::pin(outgoing::carry_out(&cx.domain, &cx.name, row));
    if let Err(error) = lease::while_leased(&cx, JobKind::SendOutgoing, held, making).await {
        tracing::warn!(outgoing.id = id, %error, "a change is left to its lease");
    }
}
