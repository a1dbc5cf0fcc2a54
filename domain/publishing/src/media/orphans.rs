//! Stored bytes that no row references, left by processes that died between storing a file and writing its row.

use std::{
    collections::HashSet,
    time::{Duration, SystemTime},
};

use fanfare_core::{
    Domain,
    error::{Error, Result},
    files::signed,
};
use fanfare_entities::{inbox_file, media_analysis, media_asset, media_variant};
use futures_util::{TryStreamExt, pin_mut};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};

use super::{asset, derived};
use crate::accounts::profile_picture;

/// The age from which bytes without a row are removed. A row is written moments after its bytes.
pub const MIN_AGE: Duration = Duration::from_secs(24 * 3_600);

/// The number of files that are looked up together.
const BATCH: usize = 500;

/// The kinds of stored files.
#[derive(Clone, Copy)]
enum FileKind {
    /// Files that were uploaded or imported.
    Brought,
    /// Derived files.
    Made,
    /// Files that came to inboxes.
    Inbox,
    /// Pictures of accounts.
    Profile,
}

/// Removes the files that were stored before `before` and that no row references; returns their number.
///
/// # Errors
/// The store's or the database's.
pub async fn remove_orphans(cx: &Domain, before: SystemTime) -> Result<u64> {
    let mut removed = 0;
    for (root, place) in [
        (asset::ROOT, FileKind::Brought),
        (derived::ROOT, FileKind::Made),
        (signed::ROOT, FileKind::Inbox),
        (profile_picture::ROOT, FileKind::Profile),
    ] {
        let old = cx.store.walk(root).map_err(Error::internal)?;
        let old = old.try_filter(|file| std::future::ready(file.modified < before));
        let groups = old.map_ok(|file| file.path).try_chunks(BATCH);
        pin_mut!(groups);
        while let Some(paths) = groups.try_next().await.map_err(|error| Error::internal(error.1))? {
            let named = referenced_paths(cx, place, &paths).await?;
            for orphan in paths.iter().filter(|path| !named.contains(*path)) {
                cx.store.delete(orphan).await.map_err(Error::internal)?;
                removed += 1;
            }
        }
    }
    Ok(removed)
}

/// Returns the paths that a row references.
async fn referenced_paths(cx: &Domain, place: FileKind, all: &[String]) -> Result<HashSet<String>> {
    let db = &cx.db.write;
    let paths = || all.iter().map(String::as_str);
    match place {
        FileKind::Brought => {
            use media_asset::{Column, Entity};
            let found = Entity::find().select_only().column(Column::Path);
            let found: Vec<String> =
                found.filter(Column::Path.is_in(paths())).into_tuple().all(db).await?;
            Ok(found.into_iter().collect())
        }
        FileKind::Profile => {
            Ok(profile_picture::paths_in_use(cx, all).await?.into_iter().collect())
        }
        FileKind::Inbox => {
            use inbox_file::{Column, Entity};
            let found = Entity::find().select_only().column(Column::Path);
            let found: Vec<String> =
                found.filter(Column::Path.is_in(paths())).into_tuple().all(db).await?;
            Ok(found.into_iter().collect())
        }
        FileKind::Made => {
            let variants: Vec<String> = media_variant::Entity::find()
                .select_only()
                .column(media_variant::Column::Path)
                .filter(media_variant::Column::Path.is_in(paths()))
                .into_tuple()
                .all(db)
                .await?;
            let posters: Vec<String> = media_analysis::Entity::find()
                .select_only()
                .column(media_analysis::Column::PosterPath)
                .filter(media_analysis::Column::PosterPath.is_in(paths()))
                .into_tuple()
                .all(db)
                .await?;
            Ok(variants.into_iter().chain(posters).collect())
        }
    }
}
