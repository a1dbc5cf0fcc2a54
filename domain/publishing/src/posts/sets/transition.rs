//! Pauses, schedules or drafts the targets of a set.

use fanfare_core::{
    Act, Reply,
    error::{Code, Error, Result},
};
use fanfare_entities::{PostId, PostSetId, post};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{
    faults::Faults,
    own,
    read::{brands, find},
    replies::{ChangedPostSet, UnchangedTarget},
    rows::{TargetRow, lock, targets_of},
    settle, view,
};
use crate::posts::{
    draft::account_of,
    input::{RequestedStatus, StatusChange},
    media_facts,
    status::{next_row, requested_time, save_by_caller},
};

/// Changes the status of every target that is not going out yet: all of them, or none if one is refused. The others are
/// listed in `unchanged`.
///
/// # Errors
/// [`Code::TargetsRefused`], or [`Code::InvalidTransition`] if no target is open.
pub async fn set_status(
    act: &Act,
    id: PostSetId,
    change: StatusChange,
) -> Result<Reply<ChangedPostSet>> {
    let now = act.cx.clock.now();
    let asked = requested_time(act, &change, now)?;
    let mut tx = act.begin().await?;
    let set = lock(tx.conn(), id).await?;
    let (_, targets) = find(act, tx.conn(), id).await?;
    act.require_version(set.map_or(0, |set| set.version))?;
    let rows = lock_open(tx.conn(), &targets).await?;
    let mut faults = Faults::default();
    let mut changed = Vec::new();
    let open: Vec<PostId> = rows.iter().map(|(_, row)| row.id).collect();
    for (place, mut row) in rows {
        media_facts::refresh_rows(tx.conn(), std::slice::from_mut(&mut row)).await?;
        let account = account_of(tx.conn(), &row).await?;
        match next_row(act, (&row, &account), &change, (asked, now)).await {
            Ok(Some(next)) => changed.push(next),
            Ok(None) => {}
            Err(error) => faults.of_whole(place, error)?,
        }
    }
    faults.check(false)?;
    let shared = asked.filter(|_| is_whole(act, &change));
    if let Some(at) = shared {
        own::shared_time(&tx, id, (at, change.timezone.as_deref()), &open).await?;
    }
    for next in changed {
        if asked.is_some() && shared.is_none() {
            own::own_time(&tx, &next).await?;
        }
        save_by_caller(act, &mut tx, next, "status").await?;
    }
    let reply = reply(act, &mut tx, id, &targets).await?;
    act.finish(tx, reply).await
}

/// Returns true if a new time is that of the whole set from now on. Somebody who does not see all of its targets gives those
/// that they see a time of their own.
fn is_whole(act: &Act, change: &StatusChange) -> bool {
    brands(act).is_none() && matches!(change.status, RequestedStatus::Scheduled)
}

/// Locks the posts of the open targets, and returns them with the places of the targets.
///
/// # Errors
/// [`Code::InvalidTransition`] if no target is open.
pub(super) async fn lock_open<C: sea_orm::ConnectionTrait>(
    conn: &C,
    targets: &[TargetRow],
) -> Result<Vec<(usize, post::Model)>> {
    let open = targets.iter().filter(|one| one.is_open()).map(|one| one.post.id);
    let rows = post::Entity::find()
        .filter(post::Column::Id.is_in(open))
        .order_by_asc(post::Column::Id)
        .lock_exclusive()
        .all(conn)
        .await?;
    // A worker may have begun one meanwhile.
    let place = |row: &post::Model| targets.iter().position(|one| one.post.id == row.id);
    let open = rows.into_iter().filter(super::rows::is_open);
    let open: Vec<_> = open.filter_map(|row| Some((place(&row)?, row))).collect();
    if open.is_empty() {
        let message = "No target of the set can be changed any more.";
        let status = super::status::SetStatus::of(
            &targets.iter().map(|one| one.post.status).collect::<Vec<_>>(),
        );
        return Err(Error::new(Code::InvalidTransition, message).with_state(status.name(), &[]));
    }
    Ok(open)
}

/// Brings the set up to date and returns the reply with it. `before` are the targets before the change.
pub(super) async fn reply(
    act: &Act,
    tx: &mut fanfare_core::Tx,
    id: PostSetId,
    before: &[TargetRow],
) -> Result<Reply<ChangedPostSet>> {
    let gone = || Error::internal("a set that was changed is gone");
    let (set, _) = settle::changed_by_caller(act, tx, id).await?.ok_or_else(gone)?;
    let seen = targets_of(tx.conn(), &[id], brands(act)).await?.remove(&id).unwrap_or_default();
    let unchanged = before.iter().filter_map(UnchangedTarget::of).collect();
    let post_set = view::shown(act, &set, seen)?;
    Ok(Reply::ok(&ChangedPostSet { dry_run: false, post_set, unchanged }))
}
