//! Applies an event that a network sent by webhook.

use fanfare_conversations::inbox::inbound;
use fanfare_jobs::ApplyInbound;

use crate::Context;

/// Applies an event, and the other waiting events of its account.
pub async fn run(job: ApplyInbound, cx: Context) {
    if let Err(error) = inbound::run(&cx.domain, &cx.name, job.id).await {
        tracing::warn!(%error, "what a network sent is left to its lease");
    }
}
