//! The events of a workspace.

use fanfare_domain::{Reply, Result, activity};

use crate::Call;

/// Lists events, oldest first.
pub async fn list_events(mut call: Call) -> Result<Reply<activity::EventPage>> {
    let query = call.query()?;
    activity::events(&call.act, query).await
}

/// Lists activity, newest first.
pub async fn list(mut call: Call) -> Result<Reply<activity::ActivityPage>> {
    let page = call.query()?;
    activity::activity(&call.act, page).await
}
