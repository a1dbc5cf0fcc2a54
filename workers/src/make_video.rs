//! Makes a video with a model: submits the job once, polls until the video is ready, downloads and stores it.

use std::time::Duration;

use fanfare_ai::{
    Failure, FailureKind, VideoClient, VideoProvider,
    video::{self as films, VideoParameters, VideoProgress},
};
use fanfare_core::{
    Result,
    durable::{Lease, MAX_LEASE_EXPIRATIONS},
    mutation::{self, Mutation},
};
use fanfare_entities::{Millis, ai_job};
use fanfare_insight::ai::video::{
    VideoJobError, VideoParams,
    work::{self, VideoOutcome, VideoStep},
};
use fanfare_jobs::{JobKind, MakeVideo};
use fanfare_media::StoredMedia;
use fanfare_people::credits::VIDEO_EXPIRY;
use tracing::Instrument;
use url::Url;

use crate::{Context, lease, publish_post::retry_policy};

/// The most attempts to submit a job to a provider that cannot be reached or is busy.
const MAX_SUBMIT_ATTEMPTS: i32 = 5;

/// The most attempts to download a video, and the time between two of them: an hour in all.
const MAX_DOWNLOAD_ATTEMPTS: i32 = 10;
const DOWNLOAD_RETRY_DELAY: Millis = 6 * 60_000;

/// The longest time that a provider may take, in ms.
const PROVIDER_TIMEOUT: Millis = 20 * 60_000;

/// Claims a video if it is due, and takes its next step.
pub async fn run(job: MakeVideo, cx: Context) {
    let row = match work::claim(&cx.domain, &cx.name, job.id).await {
        Ok(Some(row)) => row,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "claim failed; the video will be enqueued again");
            return;
        }
    };
    let span = tracing::error_span!("video", job.id = %row.uid, request.id = row.request_id);
    process(&cx, row).instrument(span).await;
}

async fn process(cx: &Context, row: ai_job::Model) {
    cx.failpoint.reach("video_claimed").await;
    let lease = Lease { id: row.id.0, fencing_token: row.fencing_token };
    let outcome =
        lease::while_leased(cx, JobKind::MakeVideo, lease, next_step(cx, &row, lease)).await;
    let outcome = match outcome {
        Ok(Some(outcome)) => outcome,
        Ok(None) => return,
        Err(error) => {
            tracing::warn!(%error, "a step of a video was not written; its lease expires");
            return;
        }
    };
    cx.failpoint.reach("video_step_done").await;
    cx.counters.film(&outcome);
    let is_over = matches!(outcome, VideoOutcome::Stored(_) | VideoOutcome::Failed(_));
    match work::finish(&cx.domain, &row, outcome).await {
        Ok(_) if is_over => cx.failpoint.reach("video_settled").await,
        Ok(_) => {}
        Err(error) => {
            tracing::warn!(%error, "a video's result was not written; its lease expires");
        }
    }
}

/// Takes the next step. Returns `None` if another worker has the row by now.
async fn next_step(
    cx: &Context,
    row: &ai_job::Model,
    lease: Lease,
) -> Result<Option<VideoOutcome>> {
    let provider = VideoProvider::named(&row.provider);
    let filmer = provider
        .and_then(|it| fanfare_insight::settings(&cx.domain).ai.video_client(it, &row.model));
    let Some(filmer) = filmer else {
        return Ok(failed("provider_error", "The provider is no longer configured."));
    };
    if row.lease_expirations > MAX_LEASE_EXPIRATIONS
        && mutation::is_off(Mutation::TooManyExpirations)
    {
        return Ok(failed(
            "outcome_unknown",
            "The workers that made the video ended before it was there.",
        ));
    }
    if let Some(url) = &row.result_url {
        return Ok(Some(download(cx, row, filmer, url).await));
    }
    let is_unsent = row.remote_id.is_none() && row.sending_at.is_none();
    if is_unsent && cx.now() >= row.created_at + VIDEO_EXPIRY {
        return Ok(failed(
            "provider_unreachable",
            "The video was not begun within a day; the credits came back.",
        ));
    }
    match (&row.remote_id, row.sending_at) {
        (Some(id), _) => poll(cx, row, filmer, id, lease).await,
        // The provider may have the job, and asking again might be billed twice.
        (None, Some(_)) if mutation::is_off(Mutation::Reconciled) => Ok(outcome_unknown()),
        (None, _) => submit(cx, row, filmer, lease).await,
    }
}

fn failed(code: &str, message: &str) -> Option<VideoOutcome> {
    Some(VideoOutcome::Failed(VideoJobError { code: code.to_owned(), message: message.to_owned() }))
}

fn outcome_unknown() -> Option<VideoOutcome> {
    failed(
        "outcome_unknown",
        "The provider's answer was lost. Nobody knows whether it makes the video; the credits came back.",
    )
}

fn denied() -> Option<VideoOutcome> {
    tracing::error!(
        "a provider of videos does not accept the key, the plan or the quota of this service"
    );
    failed(
        "provider_error",
        "The provider does not accept the key, the plan or the quota of this service's operator.",
    )
}

const fn poll_interval(filmer: VideoClient<'_>) -> Millis {
    match filmer {
        VideoClient::Xai(_) => 5_000,
        VideoClient::Google(_) | VideoClient::Vertex(_) => 10_000,
    }
}

async fn submit(
    cx: &Context,
    row: &ai_job::Model,
    filmer: VideoClient<'_>,
    lease: Lease,
) -> Result<Option<VideoOutcome>> {
    let params: VideoParams =
        serde_json::from_value(row.params.clone()).map_err(fanfare_core::Error::internal)?;
    let image = match &params.image_url {
        Some(url) => match work::first_frame(&cx.domain, row, url).await? {
            Some(image) => Some(image),
            None => return Ok(failed("provider_error", "The first frame is no longer stored.")),
        },
        None => None,
    };
    let is_recorded = mutation::is_on(Mutation::SendingWritten)
        || work::record_step(&cx.domain, lease, &VideoStep::Sending).await?;
    if !is_recorded && mutation::is_off(Mutation::BeginStepObeyed) {
        return Ok(None);
    }
    cx.failpoint.reach("video_sending").await;
    let film = VideoParameters {
        model: &params.model,
        prompt: &row.prompt,
        seconds: params.duration_seconds,
        resolution: &params.resolution,
        aspect_ratio: &params.aspect_ratio,
        audio: params.generate_audio,
        image: image.as_ref(),
    };
    let outcome = films::submit(filmer, &film).await;
    cx.failpoint.reach("video_sent").await;
    match outcome {
        Ok(id) => {
            let kept = work::record_step(&cx.domain, lease, &VideoStep::Submitted(id)).await?;
            Ok(kept.then(|| VideoOutcome::Pending(cx.now() + poll_interval(filmer), None)))
        }
        Err(failure) => Ok(not_submitted(cx, row, &failure)),
    }
}

/// Returns what a failed submission means for the job.
fn not_submitted(cx: &Context, row: &ai_job::Model, failure: &Failure) -> Option<VideoOutcome> {
    let again = |after: Option<Duration>| {
        if row.attempts + 1 >= MAX_SUBMIT_ATTEMPTS {
            return failed("provider_unreachable", "The provider did not take the video.");
        }
        let at = retry_policy::wait_until(row.id.0, row.attempts, after, cx.now());
        Some(VideoOutcome::Retry { at, unsent: true })
    };
    tracing::warn!(%failure, "a video was not submitted");
    match failure.kind {
        FailureKind::Refused => {
            failed("content_refused", "The provider refuses to make this video.")
        }
        FailureKind::Retired => {
            failed("model_retired", "The provider no longer offers this model.")
        }
        FailureKind::Busy { after } => again(after),
        FailureKind::NotSent => again(None),
        FailureKind::Denied => denied(),
        FailureKind::Rejected => {
            failed("provider_error", "The provider did not accept the request.")
        }
        FailureKind::Failed | FailureKind::Lost | FailureKind::BadAnswer
            if mutation::is_on(Mutation::LostIsNotFailed) =>
        {
            again(None)
        }
        FailureKind::Failed | FailureKind::Lost | FailureKind::BadAnswer => outcome_unknown(),
    }
}

async fn poll(
    cx: &Context,
    row: &ai_job::Model,
    filmer: VideoClient<'_>,
    id: &str,
    lease: Lease,
) -> Result<Option<VideoOutcome>> {
    let (now, submitted) = (cx.now(), row.submitted_at.unwrap_or(row.created_at));
    let later = |percent| Some(VideoOutcome::Pending(now + poll_interval(filmer), percent));
    let is_late = now - submitted > PROVIDER_TIMEOUT;
    let timeout = || failed("provider_timeout", "The provider did not finish within 20 minutes.");
    Ok(match films::poll(filmer, &row.model, id).await {
        Ok(VideoProgress::DoneAt(url)) => {
            if !work::record_step(&cx.domain, lease, &VideoStep::Found(url.to_string())).await? {
                return Ok(None);
            }
            cx.failpoint.reach("video_found").await;
            Some(download(cx, row, filmer, url.as_str()).await)
        }
        Ok(VideoProgress::Inline(film)) => {
            cx.failpoint.reach("video_found").await;
            let stored = work::store_bytes(&cx.domain, row, film).await;
            Some(stored_or_retry(cx, row, stored.ok()).await)
        }
        Ok(VideoProgress::Refused) => {
            failed("content_refused", "The provider refuses to show this video.")
        }
        Ok(VideoProgress::Denied) => denied(),
        Ok(VideoProgress::Failed) => {
            failed("provider_error", "The provider could not make the video.")
        }
        Ok(VideoProgress::Pending(_)) if is_late => timeout(),
        Ok(VideoProgress::Pending(percent)) => later(percent),
        Err(failure) if failure.status == Some(404) => {
            tracing::warn!(%failure, "a provider has forgotten a video");
            failed("provider_error", "The provider does not know the video any more.")
        }
        Err(failure) if failure.kind == FailureKind::Refused => {
            failed("content_refused", "The provider refuses to show this video.")
        }
        Err(_) if is_late => timeout(),
        Err(failure) => {
            tracing::debug!(%failure, "a video was not asked for; it is tried again");
            later(None)
        }
    })
}

async fn download(
    cx: &Context,
    row: &ai_job::Model,
    filmer: VideoClient<'_>,
    url: &str,
) -> VideoOutcome {
    let fetched = async {
        let url = Url::parse(url).ok()?;
        let download = films::download(filmer, url).await.ok()?;
        work::store(&cx.domain, row, download).await.ok()
    };
    stored_or_retry(cx, row, fetched.await).await
}

/// Returns the stored video, or the next attempt at its download.
async fn stored_or_retry(
    cx: &Context,
    row: &ai_job::Model,
    stored: Option<StoredMedia>,
) -> VideoOutcome {
    match stored {
        Some(file) => {
            cx.failpoint.reach("video_stored").await;
            VideoOutcome::Stored(file)
        }
        None if row.attempts + 1 < MAX_DOWNLOAD_ATTEMPTS => {
            let pause = if row.attempts == 0 { 1_000 } else { DOWNLOAD_RETRY_DELAY };
            VideoOutcome::Retry { at: cx.now() + pause, unsent: false }
        }
        None => VideoOutcome::Failed(VideoJobError {
            code: "result_lost".to_owned(),
            message: "The provider's video could not be downloaded.".to_owned(),
        }),
    }
}
