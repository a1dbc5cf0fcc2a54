//! What a change of a single post makes its own, if the post is a target of a set.

use std::collections::BTreeSet;

use fanfare_core::{
    Tx,
    error::{Error, Result},
};
use fanfare_entities::{Millis, PostId, PostSetId, post, post_set, post_set_target};
use sea_orm::{
    ActiveValue::{Set, Unchanged},
    ConnectionTrait, EntityTrait,
};
use serde_json::{Map, Value};

use super::{
    levels::{Effective, Level, SetContent},
    rows::content_of,
};
use crate::posts::{input::PostChanges, media_of};

/// Makes what a caller changed in a post its own, so that later changes of its set leave it alone.
///
/// # Errors
/// The database's.
pub async fn own_changes(tx: &Tx, row: &post::Model, changes: &PostChanges) -> Result<()> {
    let Some((set, target)) = target_of(tx, row).await? else { return Ok(()) };
    let content = content_of(&set)?;
    let mut own: Level =
        serde_json::from_value(target.overrides.clone()).map_err(Error::internal)?;
    let platform = crate::platforms::from_row(&row.platform)?;
    let above = content.effective(&Level::default(), platform);
    if let Some(caption) = &changes.caption {
        own.caption = Some(caption.clone());
    }
    if let Some(post_type) = &changes.post_type {
        own.post_type = Some(post_type.clone());
    }
    if changes.media_url.is_some() || changes.media_urls.is_some() {
        own.media_urls = Some(Some(urls(row)?).filter(|urls| !urls.is_empty()));
    }
    if let Some(settings) = &changes.settings {
        own.settings = Some(Some(in_place_of(settings.as_ref(), &above.settings)));
    }
    if let Some(metadata) = &changes.metadata {
        own.metadata = Some(Some(in_place_of(metadata.as_ref(), &above.metadata)));
    }
    let moved = changes.scheduled_at.is_some();
    save(tx, &target, &own, moved).await
}

/// Makes the time of a post its own.
///
/// # Errors
/// The database's.
pub async fn own_time(tx: &Tx, row: &post::Model) -> Result<()> {
    let Some((_, target)) = target_of(tx, row).await? else { return Ok(()) };
    let own: Level = serde_json::from_value(target.overrides.clone()).map_err(Error::internal)?;
    save(tx, &target, &own, true).await
}

/// Deletes what a post had of its own in its set.
///
/// # Errors
/// The database's.
pub async fn forget_target<C: ConnectionTrait>(conn: &C, row: &post::Model) -> Result<()> {
    if row.post_set_id.is_some() {
        post_set_target::Entity::delete_by_id(row.id).exec(conn).await?;
    }
    Ok(())
}

/// Changes what a target has of its own so that it keeps its content although that of the set changes.
pub fn keep(
    own: &mut Level,
    before: &Effective,
    content: &SetContent,
    platform: fanfare_platforms::PlatformId,
) {
    let after = content.effective(own, platform);
    if after.caption != before.caption {
        own.caption = Some(before.caption.clone());
    }
    if after.media_urls != before.media_urls {
        own.media_urls = Some(Some(before.media_urls.clone()).filter(|urls| !urls.is_empty()));
    }
    if after.post_type != before.post_type {
        own.post_type = Some(before.post_type.clone());
    }
    if after.settings != before.settings {
        own.settings = Some(Some(in_place_of(Some(&before.settings), &after.settings)));
    }
    if after.metadata != before.metadata {
        own.metadata = Some(Some(in_place_of(Some(&before.metadata), &after.metadata)));
    }
}

/// Returns the fields that make `given` all that a target has, whatever is `above`: a key that it lacks is null.
fn in_place_of(
    given: Option<&Map<String, Value>>,
    above: &Map<String, Value>,
) -> Map<String, Value> {
    let mut own = given.cloned().unwrap_or_default();
    let lacks: BTreeSet<&String> = above.keys().filter(|key| !own.contains_key(*key)).collect();
    for key in lacks {
        own.insert(key.clone(), Value::Null);
    }
    own
}

/// Returns the addresses of a post's files.
///
/// # Errors
/// The row cannot be read.
pub fn urls(row: &post::Model) -> Result<Vec<String>> {
    Ok(media_of(row)?.into_iter().map(|file| file.url).collect())
}

async fn target_of(
    tx: &Tx,
    row: &post::Model,
) -> Result<Option<(post_set::Model, post_set_target::Model)>> {
    let Some(id): Option<PostSetId> = row.post_set_id else { return Ok(None) };
    let set = post_set::Entity::find_by_id(id).one(tx.conn()).await?;
    let target = post_set_target::Entity::find_by_id(row.id).one(tx.conn()).await?;
    Ok(set.zip(target))
}

async fn save(tx: &Tx, target: &post_set_target::Model, own: &Level, moved: bool) -> Result<()> {
    let changed = post_set_target::ActiveModel {
        post_id: Unchanged(target.post_id),
        overrides: Set(serde_json::to_value(own).map_err(Error::internal)?),
        own_time: Set(target.own_time || moved),
        offset_ms: Set(target.offset_ms.filter(|_| !moved)),
        ..Default::default()
    };
    post_set_target::Entity::update(changed).exec(tx.conn()).await?;
    Ok(())
}

/// Writes what a target has of its own.
///
/// # Errors
/// The database's.
pub async fn write(tx: &Tx, post: fanfare_entities::PostId, own: &Level) -> Result<()> {
    let changed = post_set_target::ActiveModel {
        post_id: Unchanged(post),
        overrides: Set(serde_json::to_value(own).map_err(Error::internal)?),
        ..Default::default()
    };
    post_set_target::Entity::update(changed).exec(tx.conn()).await?;
    Ok(())
}

/// Gives a set a time, which is that of these targets from now on.
///
/// # Errors
/// The database's.
pub async fn shared_time(
    tx: &Tx,
    id: PostSetId,
    (at, timezone): (Millis, Option<&str>),
    targets: &[PostId],
) -> Result<()> {
    let set = post_set::ActiveModel {
        id: Unchanged(id),
        scheduled_at: Set(Some(at)),
        timezone: Set(timezone.map(str::to_owned)),
        ..Default::default()
    };
    post_set::Entity::update(set).exec(tx.conn()).await?;
    for target in targets {
        let changed = post_set_target::ActiveModel {
            post_id: Unchanged(*target),
            own_time: Set(false),
            offset_ms: Set(None),
            ..Default::default()
        };
        post_set_target::Entity::update(changed).exec(tx.conn()).await?;
    }
    Ok(())
}
