//! Bytes that no row names: what processes leave that die between storing a file and writing its row.

use std::time::{Duration, SystemTime};

use fanfare_entities::media_asset;
use futures_util::{TryStreamExt, pin_mut};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};

use super::asset::ROOT;
use crate::{
    Domain,
    error::{Error, Result},
};

/// A row is written moments after its bytes. What has none after this long never will.
pub const AGE: Duration = Duration::from_secs(24 * 3_600);

/// Files that are looked up together.
const TOGETHER: usize = 500;

/// Removes the files that were stored before `before` and that no row names; how many there were.
///
/// # Errors
/// The store's or the database's.
pub async fn sweep(cx: &Domain, before: SystemTime) -> Result<u64> {
    let old = cx.store.walk(ROOT).map_err(Error::internal)?;
    let old = old.try_filter(|file| std::future::ready(file.modified < before));
    let groups = old.map_ok(|file| file.path).try_chunks(TOGETHER);
    pin_mut!(groups);
    let mut removed = 0;
    while let Some(paths) = groups.try_next().await.map_err(|error| Error::internal(error.1))? {
        let named: Vec<String> = media_asset::Entity::find()
            .select_only()
            .column(media_asset::Column::Path)
            .filter(media_asset::Column::Path.is_in(paths.iter().map(String::as_str)))
            .into_tuple()
            .all(&cx.db.write)
            .await?;
        for orphan in paths.iter().filter(|path| !named.contains(path)) {
            cx.store.delete(orphan).await.map_err(Error::internal)?;
            removed += 1;
        }
    }
    Ok(removed)
}
