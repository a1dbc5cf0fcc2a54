//! Pausing, scheduling, drafting and sending again.

use fanfare_domain::{Reply, Result, posts};

use crate::Call;

/// Pauses, schedules or drafts a post.
pub async fn set_status(mut call: Call) -> Result<Reply<posts::OnePost>> {
    let change = call.body()?;
    posts::set_status(&call.act, call.post()?, change).await
}

/// Sends a failed post again, now.
pub async fn retry(mut call: Call) -> Result<Reply<posts::OnePost>> {
    let retry = call.body()?;
    posts::retry(&call.act, call.post()?, retry).await
}
