//! The operations on post sets.

use fanfare_core::{Reply, Result};
use fanfare_publishing::posts::sets;

use crate::{Call, wait};

/// Creates a set, or only checks it.
pub async fn create(mut call: Call) -> Result<sets::SetOutcome> {
    let (new, flaws) = call.readable_body()?;
    sets::create(&call.act, new, flaws).await
}

/// Lists the sets of the workspace, newest first.
pub async fn list(mut call: Call) -> Result<Reply<sets::PostSetPage>> {
    let filter = call.query()?;
    sets::list(&call.act, filter).await
}

/// Shows a set.
pub async fn get(mut call: Call) -> Result<Reply<sets::OnePostSet>> {
    let (wait, id) = (call.query()?, call.post_set()?);
    wait::for_change(wait, (&call.progress, &call.act.cx.stopping), || sets::get(&call.act, id))
        .await
}

/// Changes the content or the time of a set.
pub async fn update(mut call: Call) -> Result<Reply<sets::ChangedPostSet>> {
    let (changes, flaws) = call.readable_body()?;
    sets::change(&call.act, call.post_set()?, changes, flaws).await
}

/// Deletes the targets of a set that are not out.
pub async fn delete(call: Call) -> Result<Reply<sets::DeletedPostSet>> {
    sets::delete(&call.act, call.post_set()?).await
}

/// Pauses, schedules or drafts the open targets of a set.
pub async fn set_status(mut call: Call) -> Result<Reply<sets::ChangedPostSet>> {
    let change = call.body()?;
    sets::set_status(&call.act, call.post_set()?, change).await
}

/// Sends the failed targets of a set again.
pub async fn retry(mut call: Call) -> Result<Reply<sets::RetriedPostSet>> {
    let asked = call.body()?;
    sets::retry(&call.act, call.post_set()?, asked).await
}

/// Adds targets to a set.
pub async fn add_targets(mut call: Call) -> Result<sets::SetOutcome> {
    let (new, flaws) = call.readable_body()?;
    sets::add_targets(&call.act, call.post_set()?, new, flaws).await
}
