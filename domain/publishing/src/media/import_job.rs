//! The import job: the statements of copying a remote file into storage.

use fanfare_core::{
    Domain, Tx, batches,
    durable::{self, Lease},
    error::{Error, Result},
    notices::{self, Awaited},
};
use fanfare_entities::{
    AssetId, Millis, media_asset,
    media_asset::{AssetStatus, Column},
};
use fanfare_jobs::JobKind;
use fanfare_media::{CopiedFile, filename};
use sea_orm::{
    ColumnTrait, EntityTrait, ExprTrait, QueryFilter, QueryOrder, UpdateMany, sea_query::Expr,
};
use serde_json::Value;

use super::{asset, on_stored, sizes};

/// Returns the prefix of an imported file.
#[must_use]
pub fn prefix(row: &media_asset::Model) -> String {
    asset::prefix(row.workspace_id)
}

/// Claims a copy if it is due.
///
/// # Errors
/// The database's. The row may have been claimed nevertheless; then its lease expires.
pub async fn claim(cx: &Domain, holder: &str, id: i64) -> Result<Option<media_asset::Model>> {
    let now = cx.clock.now();
    let taken = durable::claim(&cx.db.write, JobKind::CopyMedia, &[id], (holder, now)).await?;
    Ok(taken.into_iter().next())
}

/// The result of an import.
#[derive(Debug, Clone)]
pub enum CopyOutcome {
    /// It is stored.
    Stored(CopiedFile),
    /// The address still serves the file of this earlier copy.
    Unchanged(Box<media_asset::Model>),
    /// It cannot be copied: `{code, message, remedy, limit?, actual?}`.
    Failed(Value),
    /// It is tried again at this time.
    Retry(Millis),
}

/// Writes the outcome of a copy; returns false if the row was no longer held.
///
/// # Errors
/// The database's.
pub async fn finish(cx: &Domain, lease: Lease, outcome: CopyOutcome) -> Result<bool> {
    let stored = match &outcome {
        CopyOutcome::Stored(copied) => Some(copied.file.clone()),
        CopyOutcome::Unchanged(_) | CopyOutcome::Failed(_) | CopyOutcome::Retry(_) => None,
    };
    let written = write_outcome(cx, lease, outcome).await;
    if let Some(file) = stored {
        // Without a path another worker has the row; these bytes do not belong to it.
        let path = written.as_ref().map(|path| path.as_deref().unwrap_or_default());
        asset::remove_unreferenced(cx, &file, path).await;
    }
    Ok(written?.is_some())
}

/// Writes the outcome. Returns the path that the row has now (empty unless a file is stored), or `None` if the row was
/// no longer held.
async fn write_outcome(cx: &Domain, lease: Lease, outcome: CopyOutcome) -> Result<Option<String>> {
    let now = cx.clock.now();
    let row = media_asset::Entity::find_by_id(AssetId(lease.id)).one(&cx.db.read).await?;
    let Some(row) = row else { return Ok(None) };
    let duplicate = match &outcome {
        CopyOutcome::Stored(copied) => {
            asset::find_duplicate(cx, row.workspace_id, &copied.file).await?
        }
        CopyOutcome::Unchanged(_) | CopyOutcome::Failed(_) | CopyOutcome::Retry(_) => None,
    };
    let plan = sizes::plan_of(cx, row.workspace_id).await?;
    let mut tx = Tx::begin(cx).await?;
    let mut update = media_asset::Entity::update_many()
        .col_expr(Column::FencingToken, Expr::value(lease.fencing_token + 1))
        .col_expr(Column::LeaseExpirations, Expr::value(0))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .filter(Column::Id.eq(lease.id))
        .filter(Column::FencingToken.eq(lease.fencing_token));
    let (mut again, mut path) = (None, String::new());
    update = match outcome {
        CopyOutcome::Stored(copied) => {
            path = asset::shared_path(&tx, &copied.file, duplicate).await?;
            set_stored(update, &row, copied, &path)?
                .col_expr(Column::ReviewAt, Expr::value(asset::review_at(now, plan)))
                .col_expr(Column::DueAt, Expr::value(Option::<Millis>::None))
        }
        CopyOutcome::Unchanged(known) if asset::lock_earlier(&tx, &known).await? => {
            path = known.path.clone().unwrap_or_default();
            set_unchanged(update, &row, *known)
                .col_expr(Column::ReviewAt, Expr::value(asset::review_at(now, plan)))
                .col_expr(Column::DueAt, Expr::value(Option::<Millis>::None))
        }
        // The earlier copy was deleted meanwhile, so the file is fetched.
        CopyOutcome::Unchanged(_) => {
            again = Some(now);
            update.col_expr(Column::DueAt, Expr::value(now))
        }
        CopyOutcome::Failed(error) => update
            .col_expr(Column::Status, Expr::value("failed"))
            .col_expr(Column::Error, Expr::value(error))
            .col_expr(Column::DueAt, Expr::value(Option::<Millis>::None)),
        CopyOutcome::Retry(at) => {
            again = Some(at);
            update
                .col_expr(Column::DueAt, Expr::value(at))
                .col_expr(Column::Attempts, Expr::col(Column::Attempts).add(1))
        }
    };
    if update.exec(tx.conn()).await?.rows_affected != 1 {
        return Ok(None);
    }
    if !path.is_empty() {
        let asset = media_asset::Entity::find_by_id(AssetId(lease.id)).one(tx.conn()).await?;
        let asset = asset.ok_or_else(|| Error::internal("a media row is gone"))?;
        on_stored(&mut tx, &asset).await?;
    }
    match again {
        Some(at) => tx.enqueue(JobKind::CopyMedia, row.workspace_id, lease.id, at),
        None => {
            notices::notify_other_processes(cx, tx.conn(), Awaited::Import(row.id)).await?;
        }
    }
    tx.commit().await?;
    if again.is_none() {
        cx.notices.notify(Awaited::Import(row.id));
    }
    Ok(Some(path))
}

/// Sets the columns of a stored file. A requested name is kept.
fn set_stored(
    update: UpdateMany<media_asset::Entity>,
    row: &media_asset::Model,
    copied: CopiedFile,
    path: &str,
) -> Result<UpdateMany<media_asset::Entity>> {
    let file = copied.file;
    let filename = match row.filename.as_str() {
        "" => copied.filename,
        asked => filename(asked, file.mime),
    };
    let bytes = i64::try_from(file.bytes).map_err(Error::internal)?;
    Ok(update
        .col_expr(Column::Status, Expr::value("ready"))
        .col_expr(Column::Path, Expr::value(path))
        .col_expr(Column::SourceEtag, Expr::value(copied.etag))
        .col_expr(Column::PublicName, Expr::value(asset::public_name(file.mime)))
        .col_expr(Column::Digest, Expr::value(file.digest))
        .col_expr(Column::Filename, Expr::value(filename))
        .col_expr(Column::Mime, Expr::value(file.mime))
        .col_expr(Column::Bytes, Expr::value(bytes))
        .col_expr(Column::Width, Expr::value(asset::side(file.width)))
        .col_expr(Column::Height, Expr::value(asset::side(file.height))))
}

/// Sets the columns of a file that is the same as an earlier copy. A requested name is kept.
fn set_unchanged(
    update: UpdateMany<media_asset::Entity>,
    row: &media_asset::Model,
    known: media_asset::Model,
) -> UpdateMany<media_asset::Entity> {
    let mime = known.mime.unwrap_or_default();
    let filename = match row.filename.as_str() {
        "" => known.filename,
        asked => filename(asked, &mime),
    };
    update
        .col_expr(Column::Status, Expr::value("ready"))
        .col_expr(Column::Path, Expr::value(known.path))
        .col_expr(Column::SourceEtag, Expr::value(known.source_etag))
        .col_expr(Column::PublicName, Expr::value(asset::public_name(&mime)))
        .col_expr(Column::Digest, Expr::value(known.digest))
        .col_expr(Column::Filename, Expr::value(filename))
        .col_expr(Column::Mime, Expr::value(mime))
        .col_expr(Column::Bytes, Expr::value(known.bytes))
        .col_expr(Column::Width, Expr::value(known.width))
        .col_expr(Column::Height, Expr::value(known.height))
}

/// Returns the newest stored copy of the address whose `ETag` is known.
///
/// # Errors
/// The database's.
pub async fn earlier_copy(
    cx: &Domain,
    row: &media_asset::Model,
) -> Result<Option<media_asset::Model>> {
    let found = media_asset::Entity::find()
        .filter(Column::WorkspaceId.eq(row.workspace_id))
        .filter(Column::SourceUrl.eq(row.source_url.as_deref()))
        .filter(Column::SourceEtag.is_not_null())
        .filter(Column::Path.is_not_null())
        .filter(Column::Status.eq(AssetStatus::Ready))
        .order_by_desc(Column::Id)
        .one(&cx.db.read)
        .await?;
    let Some(known) = found else { return Ok(None) };
    let stat = cx.store.stat(known.path.as_deref().unwrap_or_default()).await;
    let is_whole = stat.is_ok_and(|stat| i64::try_from(stat.size).ok() == known.bytes);
    Ok(is_whole.then_some(known))
}

/// Deletes failed copies that ended before `before`; no request waits for them any more.
///
/// # Errors
/// The database's.
pub async fn delete_failed(cx: &Domain, before: Millis) -> Result<u64> {
    // Written out, so that the index of failed rows alone serves it.
    let failed = Expr::cust("status = 'failed'");
    let at = media_asset::Column::UpdatedAt;
    batches::delete::<media_asset::Entity>(cx, at, failed.and(at.lt(before))).await
}
