//! The statements of analysing files.

use std::collections::HashMap;

use fanfare_core::{
    Domain, Tx,
    durable::{self, Lease},
    error::{Error, Result},
};
use fanfare_entities::{AssetId, Millis, media_analysis, media_analysis::WorkStatus, media_asset};
use fanfare_jobs::JobKind;
use fanfare_media::Facts;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, ExprTrait, QueryFilter,
    sea_query::Expr,
};
use serde_json::Value;
use uuid::Uuid;

use super::media_waiters::wake;

/// The result of an analysis.
#[derive(Debug, Clone)]
pub enum AnalysisOutcome {
    /// The facts of the file, and the path of a stored frame if it is a video.
    Done(Box<Facts>, Option<String>),
    /// The file cannot be used: `{code, message, remedy}`.
    Failed(Value),
    /// It is tried again at this time.
    Retry(Millis),
}

/// Creates the analysis of a stored file, due at once.
///
/// # Errors
/// The database's.
pub(super) async fn create(tx: &mut Tx, asset: &media_asset::Model) -> Result<()> {
    let (Some(path), Some(mime)) = (&asset.path, &asset.mime) else { return Ok(()) };
    let now = tx.now();
    let row = media_analysis::ActiveModel {
        asset_id: Set(asset.id),
        uid: Set(asset.uid),
        workspace_id: Set(asset.workspace_id),
        path: Set(path.clone()),
        mime: Set(mime.clone()),
        status: Set(WorkStatus::Pending),
        due_at: Set(Some(now)),
        fencing_token: Set(0),
        attempts: Set(0),
        lease_expirations: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
        request_id: Set(asset.request_id.clone()),
        ..Default::default()
    };
    let made = media_analysis::Entity::insert(row).exec_with_returning(tx.conn()).await?;
    tx.enqueue(JobKind::AnalyseMedia, made.workspace_id, made.id.0, now);
    Ok(())
}

/// Claims an analysis if it is due.
///
/// # Errors
/// The database's. The row may have been claimed nevertheless; then its lease expires.
pub async fn claim(cx: &Domain, holder: &str, id: i64) -> Result<Option<media_analysis::Model>> {
    let now = cx.clock.now();
    let taken = durable::claim(&cx.db.write, JobKind::AnalyseMedia, &[id], (holder, now)).await?;
    Ok(taken.into_iter().next())
}

/// Writes the outcome of an analysis, and makes the posts due that wait for it. Returns false if the row was no longer
/// held.
///
/// # Errors
/// The database's.
pub async fn finish(
    cx: &Domain,
    lease: Lease,
    row: &media_analysis::Model,
    outcome: AnalysisOutcome,
) -> Result<bool> {
    use media_analysis::Column;
    let now = cx.clock.now();
    let mut tx = Tx::begin(cx).await?;
    let update = media_analysis::Entity::update_many()
        .col_expr(Column::FencingToken, Expr::value(lease.fencing_token + 1))
        .col_expr(Column::LeaseExpirations, Expr::value(0))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .filter(Column::Id.eq(lease.id))
        .filter(Column::FencingToken.eq(lease.fencing_token));
    let again = if let AnalysisOutcome::Retry(at) = outcome { Some(at) } else { None };
    let sized = if let AnalysisOutcome::Done(facts, _) = &outcome { facts.size() } else { None };
    let update = update.col_expr(Column::DueAt, Expr::value(again));
    let update = match outcome {
        AnalysisOutcome::Done(facts, poster) => update
            .col_expr(Column::Status, Expr::value("ready"))
            .col_expr(Column::Facts, Expr::value(json(&facts)?))
            .col_expr(Column::PosterPath, Expr::value(poster)),
        AnalysisOutcome::Failed(error) => update
            .col_expr(Column::Status, Expr::value("failed"))
            .col_expr(Column::Error, Expr::value(error)),
        AnalysisOutcome::Retry(_) => {
            update.col_expr(Column::Attempts, Expr::col(Column::Attempts).add(1))
        }
    };
    let written = update.exec(tx.conn()).await?.rows_affected == 1;
    if let (true, Some((width, height))) = (written, sized) {
        note_size(&tx, row.asset_id, width, height).await?;
    }
    if let (true, Some(at)) = (written, again) {
        tx.enqueue(JobKind::AnalyseMedia, row.workspace_id, lease.id, at);
    }
    tx.commit().await?;
    if written && again.is_none() {
        wake(cx, row.asset_id).await?;
    }
    Ok(written)
}

fn json(facts: &Facts) -> Result<Value> {
    serde_json::to_value(facts).map_err(Error::internal)
}

/// Stores the size of a file: of videos, and of pictures whose rotation was not in their first bytes.
async fn note_size(tx: &Tx, asset: AssetId, width: u32, height: u32) -> Result<()> {
    use media_asset::Column;
    let side = |pixels: u32| i32::try_from(pixels).ok();
    media_asset::Entity::update_many()
        .col_expr(Column::Width, Expr::value(side(width)))
        .col_expr(Column::Height, Expr::value(side(height)))
        .filter(Column::Id.eq(asset))
        .exec(tx.conn())
        .await?;
    Ok(())
}

/// Returns the analyses of these files, done or not.
///
/// # Errors
/// The database's.
pub async fn find_by_uids<C: ConnectionTrait>(
    conn: &C,
    uids: &[Uuid],
) -> Result<HashMap<Uuid, media_analysis::Model>> {
    if uids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = media_analysis::Entity::find()
        .filter(media_analysis::Column::Uid.is_in(uids.iter().copied()))
        .all(conn)
        .await?;
    Ok(rows.into_iter().map(|row| (row.uid, row)).collect())
}
