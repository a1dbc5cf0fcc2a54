//! Derived files (a frame of a video, variants for networks) and the facts of a file, which are deleted with it.

use fanfare_core::{Tx, db::statement, error::Result};
use fanfare_entities::{AssetId, WorkspaceId, media_asset};
use sea_orm::{ConnectionTrait, DbErr, EntityTrait, QuerySelect};

/// The prefix of every derived file, which keeps its old name.
pub(super) const ROOT: &str = "made";

/// Returns the prefix of a workspace's derived files.
#[must_use]
pub fn prefix(workspace: WorkspaceId) -> String {
    format!("{ROOT}/{workspace}")
}

/// Deletes the facts, variants and waits of a file in the transaction that deletes it; returns the paths of the derived
/// files. A worker that still works on the file finds its row gone, and removes what it has made.
///
/// # Errors
/// The database's.
pub(super) async fn delete_all(tx: &Tx, asset: AssetId) -> Result<Vec<String>> {
    const VARIANTS: &str = "DELETE FROM media_variants WHERE asset_id = $1 RETURNING path";
    const ANALYSES: &str =
        "DELETE FROM media_analyses WHERE asset_id = $1 RETURNING poster_path AS path";
    const WAITS: &str = "DELETE FROM media_waits WHERE asset_id = $1";
    let conn = tx.conn();
    let mut paths = Vec::new();
    for sql in [VARIANTS, ANALYSES] {
        let gone = conn.query_all_raw(statement(conn, sql, [asset.0.into()])).await?;
        let gone = gone.iter().map(|row| row.try_get::<Option<String>>("", "path"));
        paths.extend(gone.collect::<Result<Vec<_>, DbErr>>()?.into_iter().flatten());
    }
    conn.execute_raw(statement(conn, WAITS, [asset.0.into()])).await?;
    Ok(paths)
}

/// Returns true if a file exists, and locks it until the transaction ends: nothing is derived from a file that is being
/// deleted.
///
/// # Errors
/// The database's.
pub(super) async fn lock_asset(tx: &Tx, asset: AssetId) -> Result<bool> {
    let held: Option<AssetId> = media_asset::Entity::find_by_id(asset)
        .select_only()
        .column(media_asset::Column::Id)
        .lock_shared()
        .into_tuple()
        .one(tx.conn())
        .await?;
    Ok(held.is_some())
}
