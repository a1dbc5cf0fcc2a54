//! The statements of converting files. One variant is made for each file and profile, and kept.

use fanfare_core::{
    Domain, Tx,
    durable::{self, Lease},
    error::{Error, Result},
};
use fanfare_entities::{Millis, media_analysis, media_analysis::WorkStatus, media_variant};
use fanfare_jobs::JobKind;
use fanfare_media::Variant;
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, EntityTrait, ExprTrait, QueryFilter,
    sea_query::{Expr, OnConflict},
};
use serde_json::Value;
use uuid::Uuid;

use super::{derived, media_waiters::wake};

/// The time after a failed conversion from which another post tries it again, in ms: the cause may be gone.
const RETRY_FAILED_AFTER: Millis = 5 * 60_000;

/// The result of a conversion.
#[derive(Debug, Clone)]
pub enum ConversionOutcome {
    /// It is stored.
    Done(Variant),
    /// It cannot be made: `{code, message, remedy}`.
    Failed(Value),
    /// It is tried again at this time.
    Retry(Millis),
}

/// Returns the variant of a file for a profile, and starts the conversion if there is none yet. Returns `None` if the
/// file was deleted.
///
/// # Errors
/// The database's.
pub async fn request(
    cx: &Domain,
    source: &media_analysis::Model,
    profile: &str,
) -> Result<Option<media_variant::Model>> {
    if let Some(known) = find(cx, source.uid, profile).await? {
        let stale = known.status == WorkStatus::Failed
            && known.updated_at < cx.clock.now().saturating_sub(RETRY_FAILED_AFTER);
        if !stale {
            return Ok(Some(known));
        }
    }
    let mut tx = Tx::begin(cx).await?;
    if !derived::lock_asset(&tx, source.asset_id).await? {
        return Ok(None);
    }
    let now = tx.now();
    let new = new_row(source, profile, now);
    use media_variant::Column;
    let again = OnConflict::columns([Column::Uid, Column::Profile])
        .value(Column::Status, Expr::value("pending"))
        .value(Column::DueAt, Expr::value(now))
        .value(Column::Attempts, Expr::value(0))
        .value(Column::UpdatedAt, Expr::value(now))
        .action_and_where(Expr::col((media_variant::Entity, Column::Status)).eq("failed"))
        .to_owned();
    media_variant::Entity::insert(new).on_conflict(again).exec_without_returning(tx.conn()).await?;
    let row = media_variant::Entity::find()
        .filter(Column::Uid.eq(source.uid))
        .filter(Column::Profile.eq(profile))
        .one(tx.conn())
        .await?;
    let row = row.ok_or_else(|| Error::internal("a variant's row is gone"))?;
    if row.status == WorkStatus::Pending {
        tx.enqueue(JobKind::ConvertMedia, row.workspace_id, row.id.0, now);
    }
    tx.commit().await?;
    Ok(Some(row))
}

fn new_row(
    source: &media_analysis::Model,
    profile: &str,
    now: Millis,
) -> media_variant::ActiveModel {
    media_variant::ActiveModel {
        asset_id: Set(source.asset_id),
        uid: Set(source.uid),
        workspace_id: Set(source.workspace_id),
        profile: Set(profile.to_owned()),
        status: Set(WorkStatus::Pending),
        due_at: Set(Some(now)),
        fencing_token: Set(0),
        attempts: Set(0),
        lease_expirations: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    }
}

/// Returns the variant of a file for a profile, if it was requested.
///
/// # Errors
/// The database's.
pub async fn find(cx: &Domain, uid: Uuid, profile: &str) -> Result<Option<media_variant::Model>> {
    Ok(media_variant::Entity::find()
        .filter(media_variant::Column::Uid.eq(uid))
        .filter(media_variant::Column::Profile.eq(profile))
        .one(&cx.db.read)
        .await?)
}

/// Claims a conversion if it is due, with the analysis of its source, which is absent if the file was deleted.
///
/// # Errors
/// The database's. The row may have been claimed nevertheless; then its lease expires.
pub async fn claim(
    cx: &Domain,
    holder: &str,
    id: i64,
) -> Result<Option<(media_variant::Model, Option<media_analysis::Model>)>> {
    let now = cx.clock.now();
    let taken: Vec<media_variant::Model> =
        durable::claim(&cx.db.write, JobKind::ConvertMedia, &[id], (holder, now)).await?;
    let Some(row) = taken.into_iter().next() else { return Ok(None) };
    let source = media_analysis::Entity::find()
        .filter(media_analysis::Column::Uid.eq(row.uid))
        .one(&cx.db.read)
        .await?;
    Ok(Some((row, source)))
}

/// Writes the outcome of a conversion, and makes the posts due that wait for it. Returns false if the row was no longer
/// held.
///
/// # Errors
/// The database's.
pub async fn finish(
    cx: &Domain,
    lease: Lease,
    row: &media_variant::Model,
    outcome: ConversionOutcome,
) -> Result<bool> {
    use media_variant::Column;
    let now = cx.clock.now();
    let mut tx = Tx::begin(cx).await?;
    let again = if let ConversionOutcome::Retry(at) = outcome { Some(at) } else { None };
    let update = media_variant::Entity::update_many()
        .col_expr(Column::FencingToken, Expr::value(lease.fencing_token + 1))
        .col_expr(Column::LeaseExpirations, Expr::value(0))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .col_expr(Column::DueAt, Expr::value(again))
        .filter(Column::Id.eq(lease.id))
        .filter(Column::FencingToken.eq(lease.fencing_token));
    let side = |pixels: Option<u32>| pixels.and_then(|pixels| i32::try_from(pixels).ok());
    let update = match outcome {
        ConversionOutcome::Done(made) => update
            .col_expr(Column::Status, Expr::value("ready"))
            .col_expr(Column::Path, Expr::value(made.path))
            .col_expr(Column::Mime, Expr::value(made.mime))
            .col_expr(Column::Bytes, Expr::value(i64::try_from(made.bytes).unwrap_or(i64::MAX)))
            .col_expr(Column::Width, Expr::value(side(made.width)))
            .col_expr(Column::Height, Expr::value(side(made.height))),
        ConversionOutcome::Failed(error) => update
            .col_expr(Column::Status, Expr::value("failed"))
            .col_expr(Column::Error, Expr::value(error)),
        ConversionOutcome::Retry(_) => {
            update.col_expr(Column::Attempts, Expr::col(Column::Attempts).add(1))
        }
    };
    let written = update.exec(tx.conn()).await?.rows_affected == 1;
    if let (true, Some(at)) = (written, again) {
        tx.enqueue(JobKind::ConvertMedia, row.workspace_id, lease.id, at);
    }
    tx.commit().await?;
    if written && again.is_none() {
        wake(cx, row.asset_id).await?;
    }
    Ok(written)
}
