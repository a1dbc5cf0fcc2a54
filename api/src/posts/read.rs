//! Reading posts.

use fanfare_core::{Listed, Reply, Result};
use fanfare_publishing::posts;

use crate::{Call, wait};

/// Lists the posts of the workspace, newest first.
pub async fn list(mut call: Call) -> Result<Reply<posts::PostPage>> {
    let filter = call.query()?;
    posts::list(&call.act, filter).await
}

/// Shows a post.
pub async fn get(mut call: Call) -> Result<Reply<posts::OnePost>> {
    let (wait, id) = (call.query()?, call.post()?);
    wait::for_change(wait, (&call.progress, &call.act.cx.stopping), || posts::get(&call.act, id))
        .await
}

/// Lists what a post is missing.
pub async fn missing(call: Call) -> Result<Reply<posts::Missing>> {
    posts::missing(&call.act, call.post()?).await
}

/// Lists the attempts to publish a post.
pub async fn attempts(mut call: Call) -> Result<Reply<Listed<posts::AttemptPage>>> {
    let part = call.query()?;
    posts::attempts(&call.act, call.post()?, part).await
}
