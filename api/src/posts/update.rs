//! Changing posts.

use fanfare_core::{Reply, Result};
use fanfare_publishing::posts;

use crate::Call;

/// Changes the content or the time of a post.
pub async fn update(mut call: Call) -> Result<Reply<posts::ChangedPost>> {
    let (changes, flaws) = call.readable_body()?;
    posts::edit(&call.act, call.post()?, changes, flaws).await
}

/// Stores release metadata.
pub async fn set_release(mut call: Call) -> Result<Reply<posts::OnePost>> {
    let release = call.body()?;
    posts::set_release(&call.act, call.post()?, release).await
}
