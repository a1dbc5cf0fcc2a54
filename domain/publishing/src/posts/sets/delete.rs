//! Deletes sets.

use fanfare_core::{Act, Reply, error::Result};
use fanfare_entities::{PostSetId, post, post::PostStatus};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{
    read::find,
    replies::{DeletedPostSet, KeptTarget},
    rows::lock,
    settle,
};
use crate::posts::delete::remove;

/// Deletes the draft, scheduled, paused and failed targets of a set, and leaves those alone that are going out or are public.
/// With nothing left the set is gone.
///
/// # Errors
/// [`fanfare_core::Code::PostSetNotFound`].
pub async fn delete(act: &Act, id: PostSetId) -> Result<Reply<DeletedPostSet>> {
    let mut tx = act.begin().await?;
    let set = lock(tx.conn(), id).await?;
    let (_, targets) = find(act, tx.conn(), id).await?;
    act.require_version(set.map_or(0, |set| set.version))?;
    let rows = post::Entity::find()
        .filter(post::Column::Id.is_in(targets.iter().map(|one| one.post.id)))
        .order_by_asc(post::Column::Id)
        .lock_exclusive()
        .all(tx.conn())
        .await?;
    let (gone, kept): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| {
        !row.partly_public
            && matches!(
                row.status,
                PostStatus::Draft | PostStatus::Scheduled | PostStatus::Failed | PostStatus::Paused
            )
    });
    for row in &gone {
        remove(act, &mut tx, row).await?;
    }
    if !gone.is_empty() {
        settle::changed_by_caller(act, &mut tx, id).await?;
    }
    let kept = kept.iter().map(|row| KeptTarget { id: row.id, status: row.status }).collect();
    let deleted = gone.iter().map(|row| row.id).collect();
    act.finish(tx, Reply::ok(&DeletedPostSet { id, deleted, kept })).await
}
