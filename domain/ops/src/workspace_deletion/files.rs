//! Removes the files of a workspace, and what is left of files without a row.

use fanfare_core::{
    Domain,
    error::{Error, Result},
    files::signed,
};
use fanfare_entities::{AccountId, WorkspaceId, account};
use fanfare_publishing::{accounts::profile_picture, media};
use futures_util::{StreamExt, TryStreamExt};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};

use super::held::Held;

/// The most files that are removed before their number is noted.
const BATCH: usize = 100;

/// The most files that are removed at the same time.
const AT_ONCE: usize = 8;

/// Removes all files of a workspace; returns their number.
///
/// # Errors
/// The store's or the database's; what was removed stays so.
pub(super) async fn remove_all(cx: &Domain, held: &mut Held) -> Result<u64> {
    let mut gone = 0;
    for prefix in prefixes(cx, held.row.workspace_id).await? {
        loop {
            let some = some(cx, &prefix).await?;
            if some.is_empty() {
                break;
            }
            let removed = some.len() as u64;
            let each = futures_util::stream::iter(some)
                .map(|path| async move { cx.store.delete(&path).await.map_err(Error::internal) });
            each.buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await?;
            let mut piece = held.begin(cx).await?;
            piece.receipt.files += removed;
            held.finish(cx, piece).await?;
            gone += removed;
        }
    }
    Ok(gone)
}

/// Counts the files of a workspace.
///
/// # Errors
/// The store's or the database's.
pub(super) async fn count(cx: &Domain, workspace: WorkspaceId) -> Result<u64> {
    let mut all = 0;
    for prefix in prefixes(cx, workspace).await? {
        let found = cx.store.walk(&prefix).map_err(Error::internal)?;
        let found = found.try_fold(0_u64, |sum, _| std::future::ready(Ok(sum + 1)));
        all += found.await.map_err(Error::internal)?;
    }
    Ok(all)
}

async fn some(cx: &Domain, prefix: &str) -> Result<Vec<String>> {
    let found = cx.store.walk(prefix).map_err(Error::internal)?;
    let paths = found.take(BATCH).map_ok(|file| file.path).try_collect();
    paths.await.map_err(Error::internal)
}

/// Returns the folders of a workspace in the store. Nothing of another workspace is in them.
async fn prefixes(cx: &Domain, workspace: WorkspaceId) -> Result<Vec<String>> {
    let accounts: Vec<AccountId> = account::Entity::find()
        .select_only()
        .column(account::Column::Id)
        .filter(account::Column::WorkspaceId.eq(workspace))
        .into_tuple()
        .all(&cx.db.write)
        .await?;
    let mut all = media::prefixes(workspace).to_vec();
    all.push(format!("{}/{workspace}", signed::ROOT));
    all.extend(accounts.iter().map(|id| format!("{}/{id}", profile_picture::ROOT)));
    Ok(all)
}
