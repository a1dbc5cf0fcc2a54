//! Creating posts.

use fanfare_core::{Reply, Result};
use fanfare_publishing::posts;

use crate::Call;

/// Schedules a post, or publishes it now when no time is given.
pub async fn create(mut call: Call) -> Result<posts::CreateOutcome> {
    let (new, flaws) = call.readable_body()?;
    posts::create(&call.act, new, flaws).await
}

/// Creates several posts, each independently.
pub async fn create_batch(mut call: Call) -> Result<Reply<posts::PostBatch>> {
    let batch = call.body()?;
    posts::create_batch(&call.act, call.idempotency_key.as_deref(), batch).await
}
