//! Reading posts.

use fanfare_domain::{Reply, Result, posts};

use crate::Call;

/// The posts of the workspace, newest first.
pub async fn list(mut call: Call) -> Result<Reply> {
    let filter = call.query()?;
    posts::list(&call.act, filter).await
}

/// One post.
pub async fn get(call: Call) -> Result<Reply> {
    posts::get(&call.act, call.post()?).await
}

/// Lists what a post is missing.
pub async fn missing(call: Call) -> Result<Reply> {
    posts::missing(&call.act, call.post()?).await
}

/// Every try to publish a post.
pub async fn attempts(call: Call) -> Result<Reply> {
    posts::attempts(&call.act, call.post()?).await
}
