//! What follows for a set from a change of its targets: it settles, opens again, or is gone.
//!
//! The set's row is locked before its posts are, so of two targets that end at the same time the second one sees the
//! first. The settling event is written in the transaction that ends the last open target.

use fanfare_core::{Act, Tx, error::Result, events::NewEvent};
use fanfare_entities::{PostSetId, post::PostStatus, post_set, post_set_target};
use sea_orm::{
    ActiveValue::{Set, Unchanged},
    ColumnTrait, EntityTrait, QueryFilter,
};

use super::{
    rows::{TargetRow, targets_of},
    status::SetStatus,
    view::{PostSet, common_brand},
};

/// The event of a set that a caller changed.
const UPDATED: &str = "post_set.updated";

/// Brings a set up to date after a change that a caller made to it or to a target: its version rises, too. The set has to
/// be locked. Returns its row and targets; `None` if it has none any more and is gone.
///
/// # Errors
/// The database's.
pub async fn changed_by_caller(
    act: &Act,
    tx: &mut Tx,
    id: PostSetId,
) -> Result<Option<(post_set::Model, Vec<TargetRow>)>> {
    bring_up_to_date(tx, id, Some((&act.request_id, UPDATED))).await
}

/// The same after a change that the service made.
///
/// # Errors
/// The database's.
pub async fn changed_by_service(tx: &mut Tx, id: PostSetId) -> Result<()> {
    bring_up_to_date(tx, id, None).await.map(drop)
}

async fn bring_up_to_date(
    tx: &mut Tx,
    id: PostSetId,
    by: Option<(&str, &'static str)>,
) -> Result<Option<(post_set::Model, Vec<TargetRow>)>> {
    let Some(set) = post_set::Entity::find_by_id(id).one(tx.conn()).await? else {
        return Ok(None);
    };
    let targets = targets_of(tx.conn(), &[id], None).await?.remove(&id).unwrap_or_default();
    let request = by.map(|(request, _)| request.to_owned());
    if targets.is_empty() {
        remove(tx, &set).await?;
        tx.emit(event(tx, "post_set.deleted", (&set, &[]), request)?);
        return Ok(None);
    }
    let statuses: Vec<PostStatus> = targets.iter().map(|one| one.post.status).collect();
    let status = SetStatus::of(&statuses);
    let now = tx.now();
    let settles = status.is_settled() && set.settled_at.is_none();
    let opens = !status.is_settled() && set.settled_at.is_some();
    if !settles && !opens && by.is_none() {
        return Ok(Some((set, targets)));
    }
    let next = post_set::Model {
        settlement: set.settlement + i32::from(settles),
        settled_at: if settles { Some(now) } else { set.settled_at.filter(|_| !opens) },
        version: set.version + i64::from(by.is_some()),
        updated_at: now,
        ..set
    };
    save(tx, &next).await?;
    if let Some((_, event_type)) = by {
        tx.emit(event(tx, event_type, (&next, &targets), request.clone())?);
    }
    if settles {
        let event_type = match status {
            SetStatus::Published => "post_set.published",
            SetStatus::Partial => "post_set.partial",
            _ => "post_set.failed",
        };
        tx.emit(event(tx, event_type, (&next, &targets), request)?);
    }
    Ok(Some((next, targets)))
}

async fn save(tx: &Tx, set: &post_set::Model) -> Result<()> {
    let changed = post_set::ActiveModel {
        id: Unchanged(set.id),
        settlement: Set(set.settlement),
        settled_at: Set(set.settled_at),
        version: Set(set.version),
        updated_at: Set(set.updated_at),
        ..Default::default()
    };
    post_set::Entity::update(changed).exec(tx.conn()).await?;
    Ok(())
}

async fn remove(tx: &Tx, set: &post_set::Model) -> Result<()> {
    post_set_target::Entity::delete_many()
        .filter(post_set_target::Column::SetId.eq(set.id))
        .exec(tx.conn())
        .await?;
    post_set::Entity::delete_by_id(set.id).exec(tx.conn()).await?;
    Ok(())
}

/// Returns an event about a set.
///
/// # Errors
/// A column cannot be read.
pub fn event(
    tx: &Tx,
    event_type: &'static str,
    (set, targets): (&post_set::Model, &[TargetRow]),
    request_id: Option<String>,
) -> Result<NewEvent> {
    let statuses: Vec<PostStatus> = targets.iter().map(|one| one.post.status).collect();
    let count = targets.len();
    let message = match event_type {
        "post_set.created" => format!("A post set with {count} targets was created."),
        "post_set.deleted" => "The post set was deleted.".to_owned(),
        "post_set.published" => format!("All {count} posts of the set are public."),
        "post_set.failed" => format!("All {count} posts of the set failed."),
        "post_set.partial" => {
            let failed = statuses.iter().filter(|one| **one == PostStatus::Failed).count();
            format!("Of the {count} posts of the set {failed} failed.")
        }
        _ => "The post set was changed.".to_owned(),
    };
    let status = (!targets.is_empty()).then(|| SetStatus::of(&statuses).name().to_owned());
    Ok(NewEvent {
        workspace_id: set.workspace_id,
        event_type,
        streamed: true,
        data: PostSet::payload(set, targets, &tx.domain().settings.base_url)?,
        post_id: None,
        account_id: None,
        brand_id: common_brand(targets),
        platform: None,
        status,
        message,
        request_id,
    })
}
