//! Video jobs as callers see them: requested, listed, shown, cancelled.

use std::collections::HashMap;

use fanfare_core::{
    Act, Domain, Reply,
    clock::Time,
    error::{Code, Error, Result},
    input,
    page::{self, Listed},
};
use fanfare_entities::{
    AiJobId, Millis, UserId, ai_job,
    ai_job::{AiJobStatus, Column},
    media_asset,
};
use fanfare_jobs::JobKind;
use fanfare_people::credits::{self, Spend};
use fanfare_publishing::media;
use schemars::JsonSchema;
use sea_orm::{
    ActiveEnum, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, ExprTrait,
    PaginatorTrait, QueryFilter, QueryOrder, Select, sea_query::Expr,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{VideoParams, VideoRequest, normalize};
use crate::ai::{
    self,
    prices::{self, Priced},
};

/// The most open video jobs of one payer.
const MAX_OPEN_JOBS: u64 = 5;

/// A video that a model makes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct VideoJob {
    pub id: Uuid,
    pub status: AiJobStatus,
    /// `xai_grok` or `google_veo`.
    pub provider: String,
    pub model: String,
    pub prompt: String,
    /// The request with all defaults.
    pub params: VideoParams,
    /// The price; refunded if the job fails.
    pub credits: i64,
    /// Percent, if the provider says so.
    pub progress: Option<i32>,
    /// The address of the video, once it is completed.
    pub video_url: Option<String>,
    /// The stored video.
    pub asset_id: Option<Uuid>,
    /// The reason why there is no video; null unless the job failed.
    pub error: Option<VideoJobError>,
    /// True if the provider is simulated.
    pub sandbox: bool,
    pub created_at: Time,
    /// The time at which it ended.
    pub completed_at: Option<Time>,
}

/// The reason why there is no video.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct VideoJobError {
    /// `content_refused`, `provider_error`, `provider_timeout`, `provider_unreachable`, `model_retired`, `outcome_unknown` or
    /// `result_lost`.
    pub code: String,
    /// The reason, in a sentence.
    pub message: String,
}

/// A video that was queued.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct QueuedVideoJob {
    pub job_id: Uuid,
    pub job: VideoJob,
}

/// A video.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneVideoJob {
    job: VideoJob,
}

/// Videos, newest first.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct VideoJobPage {
    pub jobs: Vec<VideoJob>,
    /// The cursor of the next page; null on the last one.
    pub next_cursor: Option<String>,
}

/// The videos to list.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VideoJobQuery {
    /// Only those in this status, or in these, separated by commas: `queued`, `processing`, `completed`, `failed`,
    /// `cancelled`.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub status: Option<String>,
    /// 1 to 100, 20 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<i64>,
    /// `next_cursor` of the page before.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub cursor: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// Queues a video: inserts its row and reserves its credits in one transaction.
///
/// # Errors
/// The flaws of the request, [`Code::InsufficientCredits`], [`Code::TooManyJobs`] or [`Code::ProviderNotConfigured`].
pub async fn generate(act: &Act, asked: VideoRequest) -> Result<Reply<Priced<QueuedVideoJob>>> {
    let ai = &crate::settings(&act.cx).ai;
    let (params, credits) = normalize(ai, &asked)?;
    let provider = fanfare_ai::VideoProvider::named(&params.provider);
    if provider.is_none_or(|provider| ai.video_client(provider, &params.model).is_none()) {
        return Err(ai::not_configured("videos"));
    }
    if let Some(url) = &params.image_url {
        ai::image::read_images(act, std::slice::from_ref(url)).await?;
    }
    if asked.dry_run == Some(true) {
        return prices::check_credits(act, credits).await;
    }
    let terms = ai::Terms { reference: asked.reference.clone(), max_credits: asked.max_credits };
    terms.require(credits)?;
    let mut tx = act.begin().await?;
    let (uid, now, place) = (Uuid::now_v7(), tx.now(), act.membership.workspace_id);
    let operation = credits::video_operation(uid);
    let patience = credits::VIDEO_EXPIRY;
    let spend = Spend { workspace: place, operation: &operation, credits, expires_after: patience };
    // This locks the payer's wallet, so that open jobs are counted one request at a time.
    credits::reserve_for(&act.cx, tx.conn(), spend, &terms.spent_by(act)).await?;
    let payer = credits::payer(tx.conn(), place).await?;
    if count_open(tx.conn(), payer).await? >= MAX_OPEN_JOBS {
        let message = format!("{MAX_OPEN_JOBS} videos are being made already.");
        return Err(Error::new(Code::TooManyJobs, message).with_retry_after(30));
    }
    let row = ai_job::ActiveModel {
        uid: Set(uid),
        workspace_id: Set(place),
        payer_id: Set(payer),
        created_by: Set(act.caller.user_id),
        provider: Set(params.provider.clone()),
        model: Set(params.model.clone()),
        prompt: Set(asked.prompt),
        params: Set(serde_json::to_value(&params).map_err(Error::internal)?),
        credits: Set(credits),
        status: Set(AiJobStatus::Queued),
        request_id: Set(Some(act.request_id.clone())),
        due_at: Set(Some(now)),
        fencing_token: Set(0),
        attempts: Set(0),
        lease_expirations: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    let row = ai_job::Entity::insert(row).exec_with_returning(tx.conn()).await?;
    tx.enqueue(JobKind::MakeVideo, place, row.id.0, now);
    let queued = QueuedVideoJob { job_id: uid, job: job_view_with_url(&act.cx, row, None)? };
    act.finish(tx, Reply::ok(&queued).with_status(202).cast()).await
}

async fn count_open<C: ConnectionTrait>(conn: &C, payer: UserId) -> Result<u64> {
    let open = ai_job::Entity::find()
        .filter(Column::PayerId.eq(payer))
        .filter(Column::Status.is_in([AiJobStatus::Queued, AiJobStatus::Processing]));
    Ok(open.count(conn).await?)
}

fn parse_status(name: &str) -> Result<AiJobStatus> {
    AiJobStatus::try_from_value(&name.to_owned()).map_err(|_| {
        let message = format!("There is no status called {name:?}.");
        let remedy = "Use queued, processing, completed, failed or cancelled.";
        Error::field(Code::InvalidField, "status", message, remedy)
    })
}

/// Lists the video jobs of the membership's workspace, newest first.
///
/// # Errors
/// An invalid query.
pub async fn list(act: &Act, query: VideoJobQuery) -> Result<Reply<Listed<VideoJobPage>>> {
    let limit = input::limit(query.limit)?;
    let cursor = input::cursor::<i64>(query.cursor.as_deref())?.map(AiJobId);
    let statuses = input::several(query.status.as_deref(), parse_status)?;
    let mut all =
        ai_job::Entity::find().filter(Column::WorkspaceId.eq(act.membership.workspace_id));
    // Videos belong to no brand: a membership that is locked to brands sees those that its user requested.
    if act.membership.brands.is_some() {
        all = all.filter(Column::CreatedBy.eq(act.caller.user_id));
    }
    let from = |last: Option<&ai_job::Model>| {
        let mut rows = all.clone().order_by_desc(Column::Id);
        if let Some(statuses) = &statuses {
            rows = rows.filter(input::one_of(Column::Status, statuses.clone()));
        }
        let below = last.map(|row| row.id).or(cursor);
        below.map_or(rows.clone(), |id| rows.filter(Column::Id.lt(id)))
    };
    let page = page::read(&act.cx.db.read, limit, from, |row| row.prompt.len() + 800).await?;
    let next_cursor = page.next(|row| row.id.to_string());
    let place = (page.rows.is_empty(), cursor.is_some());
    let why = page::why_empty(&act.cx.db.read, place, all.clone()).await?;
    let urls = urls(&act.cx, page.rows.iter().filter_map(|row| row.asset_uid)).await?;
    let of = |row: ai_job::Model| {
        let url = row.asset_uid.and_then(|uid| urls.get(&uid).cloned());
        job_view_with_url(&act.cx, row, url)
    };
    let jobs = page.rows.into_iter().map(of).collect::<Result<Vec<_>>>()?;
    Ok(Reply::ok(&Listed::new(VideoJobPage { jobs, next_cursor }, why)))
}

/// Shows a video job.
///
/// # Errors
/// [`Code::JobNotFound`].
pub async fn get(act: &Act, uid: Uuid) -> Result<Reply<OneVideoJob>> {
    let row = find(act, uid).one(&act.cx.db.read).await?.ok_or_else(not_found)?;
    let is_open = row.due_at.is_some();
    let mut reply = Reply::ok(&OneVideoJob { job: job_view(&act.cx, row).await? });
    reply.poll_after = is_open.then_some(5);
    Ok(reply)
}

/// Cancels a video that was not sent to a provider yet.
///
/// # Errors
/// [`Code::JobNotFound`], or [`Code::InvalidTransition`].
pub async fn cancel(act: &Act, uid: Uuid) -> Result<Reply<OneVideoJob>> {
    let tx = act.begin().await?;
    let now = tx.now();
    let cancelled = ai_job::Entity::update_many()
        .col_expr(Column::Status, Expr::value(AiJobStatus::Cancelled.to_value()))
        .col_expr(Column::DueAt, Expr::value(Option::<Millis>::None))
        .col_expr(Column::FencingToken, Expr::col(Column::FencingToken).add(1))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .col_expr(Column::CompletedAt, Expr::value(now))
        .filter(Column::Uid.eq(uid))
        .filter(Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(Column::Status.eq(AiJobStatus::Queued));
    let is_cancelled = cancelled.exec(tx.conn()).await?.rows_affected == 1;
    let row = find(act, uid).one(tx.conn()).await?.ok_or_else(not_found)?;
    if !is_cancelled {
        let status = status_name(row.status);
        let message = format!("The video is {status}; only a queued one can be cancelled.");
        return Err(Error::new(Code::InvalidTransition, message).with_state(status, &[]));
    }
    credits::refund(&act.cx, tx.conn(), &credits::video_operation(uid)).await?;
    let job = job_view_with_url(&act.cx, row, None)?;
    act.finish(tx, Reply::ok(&OneVideoJob { job })).await
}

const fn status_name(status: AiJobStatus) -> &'static str {
    match status {
        AiJobStatus::Queued => "queued",
        AiJobStatus::Processing => "processing",
        AiJobStatus::Completed => "completed",
        AiJobStatus::Failed => "failed",
        AiJobStatus::Cancelled => "cancelled",
    }
}

fn find(act: &Act, uid: Uuid) -> Select<ai_job::Entity> {
    ai_job::Entity::find()
        .filter(Column::Uid.eq(uid))
        .filter(Column::WorkspaceId.eq(act.membership.workspace_id))
}

fn not_found() -> Error {
    Error::new(Code::JobNotFound, "There is no such job.")
}

/// Returns a job with the address of its video.
pub(super) async fn job_view(cx: &Domain, row: ai_job::Model) -> Result<VideoJob> {
    let url = urls(cx, row.asset_uid).await?.into_values().next();
    job_view_with_url(cx, row, url)
}

async fn urls(
    cx: &Domain,
    assets: impl IntoIterator<Item = Uuid>,
) -> Result<HashMap<Uuid, String>> {
    let assets: Vec<Uuid> = assets.into_iter().collect();
    if assets.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = media_asset::Entity::find()
        .filter(media_asset::Column::Uid.is_in(assets))
        .all(&cx.db.read)
        .await?;
    Ok(rows.into_iter().map(|row| (row.uid, media::url_of(cx, &row))).collect())
}

pub(super) fn job_view_with_url(
    cx: &Domain,
    row: ai_job::Model,
    video_url: Option<String>,
) -> Result<VideoJob> {
    let error = row.error.map(serde_json::from_value).transpose().map_err(Error::internal)?;
    Ok(VideoJob {
        id: row.uid,
        status: row.status,
        provider: row.provider,
        model: row.model,
        prompt: row.prompt,
        params: serde_json::from_value(row.params).map_err(Error::internal)?,
        credits: row.credits,
        progress: row.progress,
        video_url,
        asset_id: row.asset_uid,
        error,
        sandbox: crate::settings(cx).ai.is_sandbox,
        created_at: Time(row.created_at),
        completed_at: row.completed_at.map(Time),
    })
}
