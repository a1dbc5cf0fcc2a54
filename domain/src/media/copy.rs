//! Copying remote media into storage: the statements of that work.

use fanfare_entities::{AssetId, Millis, media_asset, media_asset::AssetStatus};
use fanfare_jobs::Kind;
use fanfare_media::Copied;
use sea_orm::{ColumnTrait, EntityTrait, ExprTrait, QueryFilter, sea_query::Expr};
use serde_json::Value;

use super::arrived;
use crate::{
    Domain, Tx,
    error::{Error, Result},
    work::{self, Hold},
};

/// Takes an asset that is to be copied, if it is due.
///
/// # Errors
/// The database's. The row may have been taken all the same; then its lease lapses.
pub async fn claim(cx: &Domain, id: i64) -> Result<Option<media_asset::Model>> {
    let now = cx.clock.now();
    let taken = work::claim(&cx.db.write, Kind::CopyMedia, &[id], now, "").await?;
    Ok(taken.into_iter().next())
}

/// What came of a copy.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// It is stored.
    Stored(Copied),
    /// It cannot be copied: `{code, message, remedy, limit?, actual?}`.
    Failed(Value),
    /// It is tried again then.
    Again(Millis),
}

/// Writes what came of a copy; false if the row was no longer held.
///
/// # Errors
/// The database's.
pub async fn finish(cx: &Domain, hold: Hold, outcome: Outcome) -> Result<bool> {
    use media_asset::Column;
    let now = cx.clock.now();
    let mut tx = Tx::begin(cx).await?;
    let mut update = media_asset::Entity::update_many()
        .col_expr(Column::Fence, Expr::value(hold.fence + 1))
        .col_expr(Column::Laps, Expr::value(0))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .filter(Column::Id.eq(hold.id))
        .filter(Column::Fence.eq(hold.fence));
    let (mut again, is_stored) = (None, matches!(outcome, Outcome::Stored(_)));
    update = match outcome {
        Outcome::Stored(file) => {
            let bytes = i64::try_from(file.bytes).map_err(Error::internal)?;
            let side = |pixels: Option<u32>| pixels.and_then(|pixels| i32::try_from(pixels).ok());
            update
                .col_expr(Column::Status, Expr::value("ready"))
                .col_expr(Column::Path, Expr::value(file.path))
                .col_expr(Column::Filename, Expr::value(file.filename))
                .col_expr(Column::Mime, Expr::value(file.mime))
                .col_expr(Column::Bytes, Expr::value(bytes))
                .col_expr(Column::Width, Expr::value(side(file.width)))
                .col_expr(Column::Height, Expr::value(side(file.height)))
                .col_expr(Column::DueAt, Expr::value(Option::<Millis>::None))
        }
        Outcome::Failed(error) => update
            .col_expr(Column::Status, Expr::value("failed"))
            .col_expr(Column::Error, Expr::value(error))
            .col_expr(Column::DueAt, Expr::value(Option::<Millis>::None)),
        Outcome::Again(at) => {
            again = Some(at);
            update
                .col_expr(Column::DueAt, Expr::value(at))
                .col_expr(Column::RungAt, Expr::value(Option::<Millis>::None))
                .col_expr(Column::Attempts, Expr::col(Column::Attempts).add(1))
        }
    };
    let written = update.exec(tx.conn()).await?.rows_affected == 1;
    if written && is_stored {
        let asset = media_asset::Entity::find_by_id(AssetId(hold.id)).one(tx.conn()).await?;
        let asset = asset.ok_or_else(|| Error::internal("a media row is gone"))?;
        arrived(&mut tx, &asset).await?;
    }
    if let (true, Some(at)) = (written, again) {
        tx.ring(Kind::CopyMedia, hold.id, at);
    }
    tx.commit().await?;
    Ok(written)
}

/// Ends copies that no request waits for any more and that failed: their rows only say why.
///
/// # Errors
/// The database's.
pub async fn forget_failed(cx: &Domain, before: Millis) -> Result<u64> {
    let gone = media_asset::Entity::delete_many()
        .filter(media_asset::Column::Status.eq(AssetStatus::Failed))
        .filter(media_asset::Column::UpdatedAt.lt(before))
        .exec(&cx.db.write)
        .await?;
    Ok(gone.rows_affected)
}
