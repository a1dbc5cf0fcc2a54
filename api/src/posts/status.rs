//! Changing the status of posts, and retrying them.

use fanfare_core::{Reply, Result};
use fanfare_publishing::posts;

use crate::Call;

/// Pauses, schedules or drafts a post.
pub async fn set_status(mut call: Call) -> Result<Reply<posts::OnePost>> {
    let change = call.body()?;
    posts::set_status(&call.act, call.post()?, change).await
}

/// Retries a failed post now.
pub async fn retry(mut call: Call) -> Result<Reply<posts::OnePost>> {
    let retry = call.body()?;
    posts::retry(&call.act, call.post()?, retry).await
}
