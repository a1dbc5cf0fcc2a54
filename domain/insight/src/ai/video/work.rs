//! The steps of a video job. Each write is guarded by the fencing token; a worker that has lost the row changes
//! nothing.

use bytes::Bytes;
use fanfare_core::{
    Domain, Tx,
    durable::{self, Lease},
    error::{Error, Result},
    events::NewEvent,
    mutation::{self, Mutation},
};
use fanfare_entities::{
    AiJobId, Millis, ai_job,
    ai_job::{AiJobStatus, Column},
};
use fanfare_jobs::JobKind;
use fanfare_media::StoredMedia;
use fanfare_outbound::Download;
use fanfare_people::credits;
use fanfare_publishing::{
    media::{self, GeneratedFile, sizes},
    posts,
};
use futures_util::stream;
use sea_orm::{ActiveEnum, ColumnTrait, EntityTrait, QueryFilter, UpdateMany, sea_query::Expr};
use serde_json::json;

use super::jobs::VideoJobError;

/// The largest first frame, in bytes.
const MAX_FRAME_BYTES: u64 = 20_000_000;

/// Claims a video job, if it is due.
///
/// # Errors
/// The database's. The row may have been claimed all the same; then its lease expires.
pub async fn claim(cx: &Domain, holder: &str, id: i64) -> Result<Option<ai_job::Model>> {
    let now = cx.clock.now();
    let taken = durable::claim(&cx.db.write, JobKind::MakeVideo, &[id], (holder, now)).await?;
    Ok(taken.into_iter().next())
}

/// Reads the first frame of a video; `None` if it is no longer stored.
///
/// # Errors
/// The database's, or the store's.
pub async fn first_frame(
    cx: &Domain,
    row: &ai_job::Model,
    url: &str,
) -> Result<Option<(String, Bytes)>> {
    let found = posts::stored_file(cx, row.workspace_id, url).await?;
    let Some((mime, path)) = found.and_then(|it| it.mime.zip(it.path)) else { return Ok(None) };
    let bytes = cx.store.read(&path, MAX_FRAME_BYTES).await.map_err(Error::internal)?;
    Ok(Some((mime, bytes)))
}

/// Stores a video while it downloads.
///
/// # Errors
/// The download broke off, is not a video, or is larger than the plan allows.
pub async fn store(cx: &Domain, row: &ai_job::Model, film: Download) -> Result<StoredMedia> {
    let plan = sizes::plan_of(cx, row.workspace_id).await?;
    let pieces = stream::unfold(film, |mut film| async {
        film.chunk().await.transpose().map(|piece| (piece, film))
    });
    media::receive_generated_for(cx, row.workspace_id, plan, Box::pin(pieces)).await
}

/// Stores a video that the provider's reply contains.
///
/// # Errors
/// It is not a video, or is larger than the plan allows.
pub async fn store_bytes(cx: &Domain, row: &ai_job::Model, film: Bytes) -> Result<StoredMedia> {
    let plan = sizes::plan_of(cx, row.workspace_id).await?;
    let whole = stream::iter([Ok::<_, std::convert::Infallible>(film)]);
    media::receive_generated_for(cx, row.workspace_id, plan, whole).await
}

/// A step that is recorded while the row is held.
#[derive(Debug, Clone)]
pub enum VideoStep {
    /// The provider is about to be called; from here on the call is not repeated.
    Sending,
    /// The provider has accepted the job under this id.
    Submitted(String),
    /// The video is at this address.
    Found(String),
}

/// Records a step and keeps the row. Returns false if the row is no longer held.
///
/// # Errors
/// The database's.
pub async fn record_step(cx: &Domain, lease: Lease, step: &VideoStep) -> Result<bool> {
    let now = cx.clock.now();
    let update = while_held(lease, now, Mutation::BeginStepFenced);
    let update = match step {
        VideoStep::Sending => update
            .col_expr(Column::SendingAt, Expr::value(now))
            .col_expr(Column::Status, Expr::value(AiJobStatus::Processing.to_value())),
        VideoStep::Submitted(id) => update
            .col_expr(Column::RemoteId, Expr::value(id.as_str()))
            .col_expr(Column::SubmittedAt, Expr::value(now))
            .col_expr(Column::Attempts, Expr::value(0)),
        VideoStep::Found(url) => update
            .col_expr(Column::ResultUrl, Expr::value(url.as_str()))
            .col_expr(Column::ResultAt, Expr::value(now))
            .col_expr(Column::Attempts, Expr::value(0)),
    };
    Ok(update.exec(&cx.db.write).await?.rows_affected == 1)
}

/// The outcome of an attempt, with which the row is released.
#[derive(Debug, Clone)]
pub enum VideoOutcome {
    /// The provider is still working; the progress in percent, if known.
    Pending(Millis, Option<u8>),
    /// The attempt failed and is repeated.
    Retry {
        /// The time of the next attempt.
        at: Millis,
        /// The provider was not called after all.
        unsent: bool,
    },
    /// The video cannot be made.
    Failed(VideoJobError),
    /// The video is stored.
    Stored(StoredMedia),
}

/// Begins an update of a row that is still held; `unfenced` is the mutation that changes it though another worker has it.
fn while_held(lease: Lease, now: Millis, unfenced: Mutation) -> UpdateMany<ai_job::Entity> {
    let update = ai_job::Entity::update_many()
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .filter(Column::Id.eq(AiJobId(lease.id)))
        .filter(Column::DueAt.is_not_null());
    if mutation::is_on(unfenced) {
        return update;
    }
    update.filter(Column::FencingToken.eq(lease.fencing_token))
}

/// Releases the row with the outcome: the video and its payment, or the failure and its refund, in one transaction.
///
/// # Errors
/// The database's.
pub async fn finish(cx: &Domain, row: &ai_job::Model, outcome: VideoOutcome) -> Result<bool> {
    let file = match &outcome {
        VideoOutcome::Stored(file) => Some(file.clone()),
        _ => None,
    };
    let written = write(cx, row, outcome).await;
    if let Some(file) = file {
        // Without the row these bytes belong to nothing.
        let path = written.as_ref().map(|held| if *held { file.path.as_str() } else { "" });
        media::tidy_generated(cx, &file, path).await;
    }
    written
}

async fn write(cx: &Domain, row: &ai_job::Model, outcome: VideoOutcome) -> Result<bool> {
    let plan = sizes::plan_of(cx, row.workspace_id).await?;
    let mut tx = Tx::begin(cx).await?;
    let now = tx.now();
    let lease = Lease { id: row.id.0, fencing_token: row.fencing_token };
    let mut update = while_held(lease, now, Mutation::CompleteStepFenced)
        .col_expr(Column::FencingToken, Expr::value(row.fencing_token + 1))
        .col_expr(Column::LeaseExpirations, Expr::value(0));
    let (mut due, mut ended) = (None, None);
    update = match &outcome {
        VideoOutcome::Pending(at, progress) => {
            due = Some(*at);
            let progress = progress.map(i32::from).or(row.progress);
            update.col_expr(Column::Progress, Expr::value(progress))
        }
        VideoOutcome::Retry { at, unsent } => {
            due = Some(*at);
            let update = update.col_expr(Column::Attempts, Expr::value(row.attempts + 1));
            if *unsent {
                update
                    .col_expr(Column::SendingAt, Expr::value(Option::<Millis>::None))
                    .col_expr(Column::Status, Expr::value(AiJobStatus::Queued.to_value()))
            } else {
                update
            }
        }
        VideoOutcome::Failed(error) => {
            ended = Some(AiJobStatus::Failed);
            update.col_expr(Column::Error, Expr::value(json!(error)))
        }
        VideoOutcome::Stored(_) => {
            ended = Some(AiJobStatus::Completed);
            update.col_expr(Column::Progress, Expr::value(100))
        }
    };
    update = update.col_expr(Column::DueAt, Expr::value(due));
    if let Some(status) = ended {
        update = update
            .col_expr(Column::Status, Expr::value(status.to_value()))
            .col_expr(Column::CompletedAt, Expr::value(now));
    }
    if update.exec(tx.conn()).await?.rows_affected != 1 {
        return Ok(false);
    }
    if let Some(at) = due {
        tx.enqueue(JobKind::MakeVideo, row.workspace_id, row.id.0, at);
    }
    match outcome {
        VideoOutcome::Stored(file) => {
            let made = GeneratedFile {
                workspace_id: row.workspace_id,
                plan,
                created_by: row.created_by,
                name: "video".to_owned(),
                request_id: row.request_id.clone(),
            };
            let asset = media::keep_generated(&mut tx, made, &file).await?;
            ai_job::Entity::update_many()
                .col_expr(Column::AssetUid, Expr::value(asset.uid))
                .filter(Column::Id.eq(row.id))
                .exec(tx.conn())
                .await?;
            let operation = credits::video_operation(row.uid);
            credits::pay(cx, tx.conn(), &operation, row.credits).await?;
            let url = media::url_of(cx, &asset);
            tx.emit(ended_event(
                row,
                "video_job.completed",
                &json!({"video_url": url, "asset_id": asset.uid}),
            ));
        }
        VideoOutcome::Failed(error) => {
            credits::refund(cx, tx.conn(), &credits::video_operation(row.uid)).await?;
            tx.emit(ended_event(row, "video_job.failed", &json!({ "error": error })));
        }
        VideoOutcome::Pending(..) | VideoOutcome::Retry { .. } => {}
    }
    tx.commit().await?;
    Ok(true)
}

fn ended_event(row: &ai_job::Model, kind: &'static str, more: &serde_json::Value) -> NewEvent {
    let is_completed = kind == "video_job.completed";
    NewEvent {
        workspace_id: row.workspace_id,
        event_type: kind,
        streamed: true,
        data:
            json!({"job_id": row.uid, "provider": row.provider, "model": row.model, "result": more})
                .to_string(),
        post_id: None,
        account_id: None,
        brand_id: None,
        platform: None,
        status: None,
        message: if is_completed { "A video is there." } else { "A video could not be made." }
            .to_owned(),
        request_id: row.request_id.clone(),
    }
}
