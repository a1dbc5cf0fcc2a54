//! The events of a workspace.

use fanfare_core::{
    Listed, Reply, Result,
    activity::{self, EventsQuery},
};

use crate::{Call, wait};

/// Lists events, oldest first.
pub async fn list_events(mut call: Call) -> Result<Reply<Listed<activity::EventPage>>> {
    let query: EventsQuery = call.query()?;
    let (act, stopping) = (&call.act, &call.act.cx.stopping);
    let latest = || activity::latest_sequence(act);
    let read = || activity::events(act, query.clone());
    wait::for_entry(query.wait, stopping, "events", (latest, read)).await
}

/// Lists activity, newest first.
pub async fn list(mut call: Call) -> Result<Reply<Listed<activity::ActivityPage>>> {
    let page = call.query()?;
    activity::activity(&call.act, page).await
}
