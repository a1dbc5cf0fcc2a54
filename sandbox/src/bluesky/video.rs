//! The video service: limits, uploads, jobs.
//!
//! <https://docs.bsky.app/docs/tutorials/video>, the lexicons of `app.bsky.video`, and answers that programs have seen
//! (<https://github.com/bluesky-social/atproto/issues/3097>).

use serde_json::{Value, json};

use super::blobs::reference;
use super::state::{Blob, Change, Job, State};
use super::{Cx, cid, failure, invalid, param, session};
use crate::picture;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// The largest video, in bytes.
pub(super) const VIDEO_MAX: u64 = 300_000_000;
pub(super) const VIDEOS_A_DAY: u64 = 25;
const VIDEO_BYTES_A_DAY: u64 = 10_000_000_000;
const DAY_MS: i64 = 86_400_000;

/// The service's name in tokens.
pub(super) const SERVICE: &str = "did:web:video.bsky.app";
/// The method that the service calls at the PDS with the token of an upload.
pub(super) const UPLOAD_BLOB: &str = "com.atproto.repo.uploadBlob";

/// The states of a job that goes well, in their order.
const STATES: [&str; 7] = [
    "JOB_STATE_CREATED",
    "JOB_STATE_ENCODING",
    "JOB_STATE_ENCODED",
    "JOB_STATE_SCANNING",
    "JOB_STATE_SCANNED",
    "JOB_STATE_UPLOADING",
    "JOB_STATE_UPLOADED",
];

/// The videos and bytes that an account may still send.
pub(super) struct Left {
    pub videos: u64,
    pub bytes: u64,
    /// Why nothing may be sent, as the service's code and words.
    pub refusal: Option<(&'static str, &'static str)>,
}

/// Returns what an account may still send.
pub(super) fn left(state: &State, now_ms: i64) -> Left {
    let today = state.jobs.values().filter(|job| job.at_ms > now_ms - DAY_MS);
    let (videos, bytes) = today.fold((0, 0), |(videos, bytes), job| (videos + 1, bytes + job.size));
    let videos = state.video.remaining_daily_videos.unwrap_or(VIDEOS_A_DAY.saturating_sub(videos));
    let refusal = if !state.video.email_confirmed {
        Some(("unconfirmed_email", "Please confirm your email address to upload videos"))
    } else if videos == 0 {
        Some(("daily_limit_exceeded", "User has exceeded daily upload videos limit"))
    } else if !state.video.can_upload {
        Some(("upload_forbidden", "User is not allowed to upload videos"))
    } else {
        None
    };
    Left { videos, bytes: VIDEO_BYTES_A_DAY.saturating_sub(bytes), refusal }
}

/// `app.bsky.video.getUploadLimits`
pub(super) fn upload_limits(cx: &Cx) -> HandlerResult {
    let account = session::service(cx, &[(SERVICE, "app.bsky.video.getUploadLimits")])?;
    let left = account.read(|state| left(state, cx.now_ms()));
    let mut answer = json!({
        "canUpload": left.refusal.is_none(),
        "remainingDailyVideos": left.videos,
        "remainingDailyBytes": left.bytes,
    });
    if let Some((error, message)) = left.refusal {
        answer["error"] = json!(error);
        answer["message"] = json!(message);
    }
    Ok(Reply::ok(&answer))
}

/// `app.bsky.video.uploadVideo`
pub(super) fn upload(cx: &Cx) -> HandlerResult {
    let account = session::service(cx, &[(&session::server_did(cx), UPLOAD_BLOB)])?;
    let did = param(&cx.call, "did")?;
    param(&cx.call, "name")?;
    if did != account.identity.remote_id {
        return Err(failure(401, "Unauthorized", "the token is for another account"));
    }
    if cx.call.header("content-length").is_none() {
        return Err(failure(411, "LengthRequired", "Content-Length is required"));
    }
    let kind = cx.call.media_type();
    if kind != "video/mp4" {
        let message = format!("Wrong request encoding (Content-Type): {kind}");
        return Err(invalid(&message));
    }
    let bytes = &cx.call.body;
    let size = bytes.len() as u64;
    if size > VIDEO_MAX {
        return Err(failure(413, "PayloadTooLarge", "the video is larger than 300000000 bytes"));
    }
    let is_video = picture::video(bytes) == Some("video/mp4");
    let (id, known) = begin(cx, &account, &cid::of_bytes(bytes), (size, is_video))?;
    if known {
        let known = json!({"did": did, "jobId": id, "state": "JOB_STATE_COMPLETED",
            "error": "already_exists", "message": "Video already processed"});
        return Err(Reply::json(409, &known));
    }
    let status = json!({"jobId": id, "did": did, "state": "JOB_STATE_CREATED", "progress": 0});
    Ok(Reply::ok(&json!({"jobStatus": status})))
}

/// Begins a job for a file, unless there is one for it that did not fail. Returns its id, and whether it is done
/// already.
pub(super) fn begin(
    cx: &Cx,
    account: &std::sync::Arc<Account<super::Bluesky>>,
    cid: &str,
    (size, is_video): (u64, bool),
) -> Result<(String, bool), Reply> {
    // The id contains the account, because the status can be read without a token.
    let id = format!("{}.{cid}", account.identity.remote_id);
    let now_ms = cx.now_ms();
    let before = account.read(|state| state.jobs.get(&id).cloned());
    if let Some(before) = before.filter(|job| !job.has_failed()) {
        return Ok((id, now_ms >= before.ready_ms));
    }
    cx.sim.change(account, |state| {
        let left = left(state, now_ms);
        if let Some((error, message)) = left.refusal {
            let status =
                json!({"did": "", "error": error, "jobId": "", "message": message, "state": ""});
            return Err(Reply::json(400, &json!({"jobStatus": status})));
        }
        if size > left.bytes {
            return Err(failure(429, "RateLimitExceeded", "daily video upload limit reached"));
        }
        let seconds = state.video.seconds.map(|seconds| seconds.saturating_mul(1_000));
        let processing = seconds.and_then(|ms| i64::try_from(ms).ok());
        let ready_ms = now_ms + processing.unwrap_or_else(|| cx.sim.env.processing_ms());
        let flaw = (!is_video).then(|| "the file is not an MP4 video".to_owned());
        let code = match &flaw {
            Some(_) => Some("validation_failure".to_owned()),
            None => state.video.fail.clone(),
        };
        let job = Job { cid: cid.to_owned(), size, at_ms: now_ms, ready_ms, flaw, code };
        Ok((Change::Job { id: id.clone(), job }, ()))
    })?;
    Ok((id, false))
}

/// `app.bsky.video.getJobStatus`
pub(super) fn job_status(cx: &Cx) -> HandlerResult {
    let id = param(&cx.call, "jobId")?;
    let unknown = || failure(404, "JobNotFound", "there is no such job");
    let account = cx.account.as_ref().ok_or_else(unknown)?;
    let job = account.read(|state| state.jobs.get(&id).cloned()).ok_or_else(unknown)?;
    Ok(Reply::ok(&json!({"jobStatus": status(&id, account, &job, cx.now_ms())})))
}

/// Returns a job as the service shows it.
pub(super) fn status(id: &str, account: &Account<super::Bluesky>, job: &Job, now_ms: i64) -> Value {
    let mut status = json!({"jobId": id, "did": account.identity.remote_id});
    if now_ms < job.ready_ms {
        let (done, whole) = ((now_ms - job.at_ms).max(0), (job.ready_ms - job.at_ms).max(1));
        let steps = STATES.len() as i64;
        let at = usize::try_from(done * steps / whole).unwrap_or(0).min(STATES.len() - 1);
        status["state"] = json!(STATES[at]);
        status["progress"] = json!((done * steps % whole) * 100 / whole);
    } else if job.has_failed() {
        let message = job.flaw.as_deref().unwrap_or("the video could not be processed");
        status["state"] = json!("JOB_STATE_FAILED");
        status["error"] = json!(format!("video processing error for job: {id}"));
        status["message"] = json!(message);
        if let Some(code) = job.code.as_deref().filter(|code| !code.is_empty()) {
            status["failureCode"] = json!(code);
        }
    } else {
        status["state"] = json!("JOB_STATE_COMPLETED");
        status["progress"] = json!(100);
        let blob = Blob { mime: "video/mp4".into(), size: job.size, ready_ms: job.ready_ms };
        status["blob"] = reference(&job.cid, &blob);
    }
    status
}
