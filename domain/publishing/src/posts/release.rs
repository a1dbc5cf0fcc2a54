//! External release metadata.

use fanfare_core::{Act, Reply, error::Result};
use fanfare_entities::{PostId, post};

use super::{input::SetRelease, read::find_locked, status::save, view::OnePost};

/// Stores the caller's release id and group; allowed in every status, since nothing of it is published.
///
/// # Errors
/// [`fanfare_core::Code::PostNotFound`].
pub async fn set_release(act: &Act, id: PostId, release: SetRelease) -> Result<Reply<OnePost>> {
    let mut tx = act.begin().await?;
    let mut row: post::Model = find_locked(act, &tx, id).await?;
    if let Some(release_id) = release.release_id {
        row.release_id = release_id;
    }
    if let Some(group) = release.group {
        row.group_key = group;
    }
    row.updated_at = act.cx.clock.now();
    let reply = save(act, &mut tx, row, "release").await?;
    act.finish(tx, reply).await
}
