//! Uploads: blobs to the PDS, and videos through the video service.

use serde_json::{Value, json};

use super::state::{Blob, Change, Job};
use super::{Cx, cid, failure, invalid, param, session};
use crate::picture;
use crate::reply::{HandlerResult, Reply};

/// The PDS's limit, in bytes.
const BLOB_MAX: usize = 50 << 20;
/// The video service's limit, in bytes.
const VIDEO_MAX: usize = 300_000_000;
const VIDEOS_A_DAY: usize = 25;
const VIDEO_BYTES_A_DAY: u64 = 10_000_000_000;
const DAY_MS: i64 = 86_400_000;

/// `com.atproto.repo.uploadBlob`
pub(super) fn upload(cx: &Cx) -> HandlerResult {
    let account = session::access(cx)?;
    let bytes = &cx.call.body;
    let said = cx.call.media_type();
    if said.is_empty() {
        return Err(invalid("Request encoding (Content-Type) required but not provided"));
    }
    if bytes.is_empty() {
        return Err(invalid("A request body was expected but none was provided"));
    }
    if bytes.len() > BLOB_MAX {
        return Err(failure(413, "PayloadTooLarge", "request entity too large"));
    }
    // As the PDS does: the type of the bytes takes precedence over the client's.
    let mime = picture::sniff(bytes).map_or(said, str::to_owned);
    let blob = Blob { mime, size: bytes.len() as u64, ready_ms: 0 };
    let cid = cid::of_bytes(bytes);
    let shown = reference(&cid, &blob);
    cx.sim.apply(&account, Change::Blob { cid, blob });
    Ok(Reply::ok(&json!({"blob": shown})))
}

/// Returns a blob as records reference it.
pub(super) fn reference(cid: &str, blob: &Blob) -> Value {
    json!({"$type": "blob", "ref": {"$link": cid}, "mimeType": blob.mime, "size": blob.size})
}

/// `app.bsky.video.uploadVideo`
pub(super) fn upload_video(cx: &Cx) -> HandlerResult {
    let account = session::service(cx, "com.atproto.repo.uploadBlob")?;
    let did = param(&cx.call, "did")?;
    param(&cx.call, "name")?;
    if did != account.identity.remote_id {
        return Err(failure(401, "Unauthorized", "the token is for another account"));
    }
    let bytes = &cx.call.body;
    if bytes.len() > VIDEO_MAX {
        return Err(failure(413, "PayloadTooLarge", "the video is larger than 300000000 bytes"));
    }
    let now_ms = cx.now_ms();
    let cid = cid::of_bytes(bytes);
    // The id contains the account, because the status can be read without a token.
    let id = format!("{did}.{cid}");
    let flaw = (picture::video(bytes) != Some("video/mp4"))
        .then(|| "the file is not an MP4 video".to_owned());
    let ready_ms = now_ms + cx.sim.env.processing_ms();
    let job = Job { cid, size: bytes.len() as u64, at_ms: now_ms, ready_ms, flaw };
    cx.sim.change(&account, |state| {
        if state.jobs.get(&id).is_some_and(|old| old.flaw.is_none() && now_ms >= old.ready_ms) {
            let known = json!({"did": did, "jobId": id, "state": "JOB_STATE_COMPLETED", "error": "already_exists",
                "message": "Video already processed"});
            return Err(Reply::json(409, &known));
        }
        let today = state.jobs.values().filter(|job| now_ms - job.at_ms < DAY_MS).count();
        if today >= VIDEOS_A_DAY {
            return Err(failure(429, "RateLimitExceeded", "daily video upload limit reached"));
        }
        Ok((Change::Job { id: id.clone(), job }, ()))
    })?;
    let status = json!({"jobId": id, "did": did, "state": "JOB_STATE_CREATED", "progress": 0});
    Ok(Reply::ok(&json!({"jobStatus": status})))
}

/// `app.bsky.video.getJobStatus`
pub(super) fn job_status(cx: &Cx) -> HandlerResult {
    let id = param(&cx.call, "jobId")?;
    let unknown = || failure(404, "JobNotFound", "there is no such job");
    let account = cx.account.as_ref().ok_or_else(unknown)?;
    let job = account.read(|state| state.jobs.get(&id).cloned()).ok_or_else(unknown)?;
    let mut status = json!({"jobId": id, "did": account.identity.remote_id});
    let now_ms = cx.now_ms();
    if now_ms < job.ready_ms {
        status["state"] = json!("JOB_STATE_ENCODING");
        status["progress"] = json!((now_ms - job.at_ms).max(0) * 100 / (job.ready_ms - job.at_ms));
    } else if let Some(flaw) = &job.flaw {
        status["state"] = json!("JOB_STATE_FAILED");
        status["error"] = json!("InvalidVideo");
        status["failureCode"] = json!("validation_failure");
        status["message"] = json!(flaw);
    } else {
        status["state"] = json!("JOB_STATE_COMPLETED");
        status["progress"] = json!(100);
        status["blob"] = reference(
            &job.cid,
            &Blob { mime: "video/mp4".into(), size: job.size, ready_ms: job.ready_ms },
        );
    }
    Ok(Reply::ok(&json!({"jobStatus": status})))
}

/// `app.bsky.video.getUploadLimits`
pub(super) fn upload_limits(cx: &Cx) -> HandlerResult {
    let account = session::service(cx, "app.bsky.video.getUploadLimits")?;
    let since = cx.now_ms() - DAY_MS;
    let (videos, bytes) = account.read(|state| {
        let today = state.jobs.values().filter(|job| job.at_ms > since);
        today.fold((0, 0), |(videos, bytes), job| (videos + 1, bytes + job.size))
    });
    Ok(Reply::ok(&json!({
        "canUpload": videos < VIDEOS_A_DAY,
        "remainingDailyVideos": VIDEOS_A_DAY.saturating_sub(videos),
        "remainingDailyBytes": VIDEO_BYTES_A_DAY.saturating_sub(bytes),
    })))
}
