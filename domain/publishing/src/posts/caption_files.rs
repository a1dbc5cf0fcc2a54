//! The files with captions that the settings of a post name: always our own, by their address.

use fanfare_core::{Domain, error::Result};
use fanfare_entities::{WorkspaceId, media_asset, media_asset::AssetStatus, post};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use serde_json::{Map, Value};

use super::{
    media::{has_name, of_asset},
    media_of,
    view::PostMedia,
};

/// Returns the addresses of the files, in order.
fn addresses(settings: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let captions = settings.get("captions").and_then(Value::as_array).into_iter().flatten();
    captions.map(|one| one.get("url").and_then(Value::as_str).unwrap_or_default())
}

/// Returns the files, in order. One that is not a stored file of the workspace has nothing but its address.
///
/// # Errors
/// The database's.
pub async fn look_up<C: ConnectionTrait>(
    cx: &Domain,
    conn: &C,
    workspace: WorkspaceId,
    settings: &Map<String, Value>,
) -> Result<Vec<PostMedia>> {
    let mut files = Vec::new();
    for url in addresses(settings) {
        let ours = url.strip_prefix(cx.settings.media_base_url.as_str());
        let row = match ours.and_then(|name| name.strip_prefix('/')) {
            Some(name) => {
                media_asset::Entity::find()
                    .filter(media_asset::Column::WorkspaceId.eq(workspace))
                    .filter(has_name(name))
                    .filter(media_asset::Column::Status.eq(AssetStatus::Ready))
                    .one(conn)
                    .await?
            }
            None => None,
        };
        let unknown = || PostMedia { url: url.to_owned(), ..PostMedia::default() };
        files.push(row.map_or_else(unknown, |row| of_asset(cx, &row)));
    }
    Ok(files)
}

/// Returns all files that a post needs: its media and its captions.
///
/// # Errors
/// The database's, or the row cannot be read.
pub async fn with_media<C: ConnectionTrait>(
    cx: &Domain,
    conn: &C,
    row: &post::Model,
) -> Result<Vec<PostMedia>> {
    let mut files = media_of(row)?;
    if let Some(settings) = row.settings.as_object() {
        files.extend(look_up(cx, conn, row.workspace_id, settings).await?);
    }
    Ok(files)
}
