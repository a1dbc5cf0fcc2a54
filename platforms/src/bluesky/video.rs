//! The video of a post: limits, upload, waiting, captions. All of it can be repeated; nothing of it is public.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    VIDEO_BYTES_MAX,
    client::Pds,
    settings::{CAPTION_BYTES_MAX, Settings},
    state::State,
    video_service::{Job, JobState, Limits, Videos, unconfirmed},
};
use crate::{
    Draft, Error, ErrorKind, Media, Progress, Result, Session, Warning, WarningCode,
    settings::alt_text,
};

/// The time after which the limits are read again if no video can be sent.
const LIMITS_AGAIN: Duration = Duration::from_secs(3_600);
/// The longest time that the processing of a video is waited for.
const WAIT_MAX: TimeDelta = TimeDelta::minutes(30);
/// The largest file that a server takes unless it says otherwise, in bytes.
const BLOB_MAX: u64 = 5 << 20;

/// The progress of a video.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum VideoStage {
    /// It may be sent.
    Allowed,
    /// It was sent, and is being processed.
    InProcess {
        /// The id of the job.
        job: String,
        /// When it was sent.
        since: DateTime<Utc>,
    },
    /// It can be put into a record.
    Ready {
        /// Its reference.
        blob: Value,
    },
}

/// Returns the video of a post.
pub fn of(draft: &Draft) -> Option<&Media> {
    draft.media.first().filter(|media| media.is_video())
}

/// Finds out whether the account may send a video.
pub async fn check_limits(
    session: &Session,
    pds: &Pds<'_>,
    draft: &Draft,
    mut state: State,
) -> Result<Progress> {
    let size = of(draft).and_then(|video| video.bytes);
    match Videos::of(session, pds)? {
        Some(videos) => {
            let limits = videos.limits().await?;
            let fits = |size: u64| limits.remaining_daily_bytes.is_none_or(|left| size <= left);
            if !limits.can_upload || !size.is_none_or(fits) {
                return Err(not_now(pds, &limits).await?);
            }
        }
        None => {
            let limit = pds.blob_limit().await?.unwrap_or(BLOB_MAX);
            if let Some(size) = size.filter(|size| *size > limit) {
                let message =
                    format!("The video has {size} bytes; the account's server takes {limit}.");
                return Err(Error::media_rejected(message).with_remedy(smaller(limit)));
            }
        }
    }
    state.video = Some(VideoStage::Allowed);
    Progress::continue_with(&state)
}

/// Returns the number of videos that the account may still send, if the service says so.
pub async fn videos_left(session: &Session) -> Result<Option<u64>> {
    let pds = Pds::of_account(session);
    let Some(videos) = Videos::of(session, &pds)? else { return Ok(None) };
    let limits = videos.limits().await?;
    Ok(if limits.can_upload { limits.remaining_daily_videos } else { Some(0) })
}

/// Returns the error for an account that may send no video now. An address that is not confirmed never may.
async fn not_now(pds: &Pds<'_>, limits: &Limits) -> Result<Error> {
    if pds.is_email_confirmed().await? == Some(false) {
        return Ok(unconfirmed());
    }
    let said = limits.words().map(|said| format!(": {said}")).unwrap_or_default();
    let message = format!("Bluesky takes no video of the account for now{said}.");
    let message = message.replace("..", ".");
    Ok(Error::new(ErrorKind::QuotaExhausted, message)
        .with_retry_after(Some(LIMITS_AGAIN))
        .of_post_alone())
}

fn smaller(limit: u64) -> String {
    format!(
        "Publish a video of at most {limit} bytes, or ask the operator of the account's server to raise its \
         blobUploadLimit."
    )
}

/// Sends the video.
pub async fn upload(
    session: &Session,
    pds: &Pds<'_>,
    draft: &Draft,
    mut state: State,
) -> Result<Progress> {
    let missing = || Error::media_rejected("The video of the post is missing.");
    let video = of(draft).ok_or_else(missing)?;
    let (size, file) = video.stream(VIDEO_BYTES_MAX).await?;
    let Some(videos) = Videos::of(session, pds)? else {
        let blob = pds.upload_file(&video.mime, size, file).await?;
        let message = "The video went to the account's server, which processes it after the post is public: \
                       viewers see an empty player for some seconds.";
        let code = WarningCode::VideoProcessedAfterPublishing;
        state.warnings.push(Warning::new(code, "media_urls[0]", message));
        return ready(state, blob);
    };
    let name = if video.filename.is_empty() { "video.mp4" } else { &video.filename };
    let job = videos.upload(name, size, file).await?;
    state.video = Some(VideoStage::InProcess { job: job.job_id.clone(), since: session.now });
    handle(session, pds, job, session.now, state).await
}

/// Looks whether the video is processed.
pub async fn look(
    session: &Session,
    pds: &Pds<'_>,
    state: State,
    (job, since): (&str, DateTime<Utc>),
) -> Result<Progress> {
    // If the service was switched off meanwhile, the video is sent to the account's server.
    let Some(videos) = Videos::of(session, pds)? else { return anew(state) };
    match videos.job(job).await? {
        Some(job) => handle(session, pds, job, since, state).await,
        None => again(state, "Bluesky no longer knows the video.".to_owned(), None),
    }
}

async fn handle(
    session: &Session,
    pds: &Pds<'_>,
    job: Job,
    since: DateTime<Utc>,
    state: State,
) -> Result<Progress> {
    let (code, said) = match job.state() {
        JobState::Ready(blob) => return ready(state, blob),
        JobState::InProcess if session.now - since >= WAIT_MAX => {
            let minutes = WAIT_MAX.num_minutes();
            let message = format!("Bluesky has not processed the video within {minutes} minutes.");
            return again(state, message, None);
        }
        JobState::InProcess => {
            return Ok(Progress::continue_with(&state)?.after(pace(session.now - since)));
        }
        JobState::Failed(code, said) => (code.unwrap_or_default(), session.secrets.redact(&said)),
    };
    let said = said.trim_end_matches('.');
    let with_reply = |error: Error| error.with_reply(200, Some(&code), Some(said));
    match code.as_str() {
        "validation_failure" | "encoding_failure" => {
            let message = format!("Bluesky does not take the video: {said}.");
            Err(with_reply(Error::media_rejected(message)))
        }
        "pds_upload_unsupported_blob_size" => {
            let limit = pds.blob_limit().await.ok().flatten().unwrap_or(BLOB_MAX);
            let message = format!("The account's server does not take so large a video: {said}.");
            Err(with_reply(Error::media_rejected(message)).with_remedy(smaller(limit)))
        }
        _ => again(state, format!("Bluesky could not process the video: {said}."), Some(&code)),
    }
}

/// Returns how long to wait before the next look.
fn pace(elapsed: TimeDelta) -> Duration {
    match elapsed.num_seconds() {
        ..20 => Duration::from_secs(2),
        20..120 => Duration::from_secs(5),
        _ => Duration::from_secs(15),
    }
}

fn ready(mut state: State, blob: Value) -> Result<Progress> {
    let cid = blob.pointer("/ref/$link").and_then(Value::as_str).map(str::to_owned);
    state.video = Some(VideoStage::Ready { blob });
    Ok(Progress::continue_with(&state)?.with_remote_id(cid))
}

/// Goes on with a new upload.
fn anew(mut state: State) -> Result<Progress> {
    state.video = None;
    Progress::continue_with(&state)
}

/// Fails for the moment; the next attempt sends the video anew.
fn again(mut state: State, message: String, code: Option<&str>) -> Result<Progress> {
    state.video = Some(VideoStage::Allowed);
    let error = Error::transient(message.clone());
    let error = match code {
        Some(code) => error.with_reply(200, Some(code), Some(&message)),
        None => error,
    };
    Err(error.with_next_state(&state)?)
}

/// Sends a file with captions to the account's server.
pub async fn upload_captions(pds: &Pds<'_>, draft: &Draft, index: usize) -> Result<Value> {
    let missing = || Error::media_rejected("A file with captions is no longer stored.");
    let file = draft.caption_files.get(index).ok_or_else(missing)?;
    pds.upload("text/vtt", file.read(CAPTION_BYTES_MAX).await?).await
}

/// Returns the video as a record embeds it.
pub fn embed(draft: &Draft, settings: &Settings, state: &State) -> Option<Value> {
    let Some(VideoStage::Ready { blob }) = &state.video else { return None };
    let mut embed = json!({"$type": "app.bsky.embed.video", "video": blob});
    if let Some(alt) = alt_text(&settings.media_alt_texts, 0) {
        embed["alt"] = json!(alt);
    }
    let captions = settings.captions.iter().zip(&state.captions);
    let captions: Vec<_> =
        captions.map(|(one, file)| json!({"lang": one.lang, "file": file})).collect();
    if !captions.is_empty() {
        embed["captions"] = json!(captions);
    }
    if let Some((width, height)) = of(draft).and_then(super::record::sides) {
        embed["aspectRatio"] = json!({"width": width, "height": height});
    }
    Some(embed)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::pace;

    #[test]
    fn a_video_is_looked_at_less_and_less_often() {
        let after = |seconds| pace(TimeDelta::seconds(seconds)).as_secs();
        assert_eq!([0, 19, 20, 119, 120, 1_700].map(after), [2, 2, 5, 5, 15, 15]);
    }
}
