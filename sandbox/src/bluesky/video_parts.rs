//! Uploads of videos in parts (lexicons of 2026-08-12). They do not say which token these calls take: that of an upload
//! and one for the method itself are taken.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::state::{Change, Part, Upload, UploadEnd};
use super::video::{self, SERVICE, UPLOAD_BLOB, VIDEO_MAX};
use super::{Bluesky, Cx, cid, failure, input, invalid, param, session, text};
use crate::env::rfc3339;
use crate::picture;
use crate::random::{self, BASE32};
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// Bytes of each part but the last.
const PART: u64 = 8 << 20;
/// The longest advisory duration, in milliseconds.
const VIDEO_MS_MAX: i64 = 180_000;
const OPEN_MAX: usize = 10;
const LIFE_MS: i64 = 86_400_000;

type Owner = Arc<Account<Bluesky>>;

fn refused(error: &str, message: &str) -> Reply {
    failure(400, error, message)
}

fn owner(cx: &Cx, method: &str) -> Result<Owner, Reply> {
    let own = format!("app.bsky.video.{method}");
    session::service(cx, &[(&session::server_did(cx), UPLOAD_BLOB), (SERVICE, &own)])
}

fn find(account: &Owner, id: &str) -> Result<Upload, Reply> {
    let found = account.read(|state| state.uploads.get(id).cloned());
    found.ok_or_else(|| refused("UploadNotFound", "there is no such upload"))
}

/// Returns the refusal of an upload that has ended, or that has expired.
fn ended(upload: &Upload, now_ms: i64) -> Option<Reply> {
    match upload.end {
        Some(UploadEnd::Completed { .. }) => {
            Some(refused("UploadAlreadyCompleted", "the upload is completed"))
        }
        Some(UploadEnd::Aborted) => Some(refused("UploadAborted", "the upload was aborted")),
        None if now_ms >= upload.at_ms + LIFE_MS => {
            Some(refused("UploadExpired", "the upload has expired"))
        }
        None => None,
    }
}

impl Upload {
    fn parts_wanted(&self) -> u64 {
        self.size.div_ceil(PART)
    }

    fn size_of(&self, number: u64) -> u64 {
        self.size.saturating_sub((number - 1) * PART).min(PART)
    }

    fn expires(&self) -> String {
        rfc3339(self.at_ms + LIFE_MS)
    }
}

/// `app.bsky.video.startUpload`
pub(super) fn start(cx: &Cx) -> HandlerResult {
    let account = owner(cx, "startUpload")?;
    let input = input(&cx.call)?;
    let size = input.get("sizeBytes").and_then(Value::as_u64).filter(|size| *size > 0);
    let size = size.ok_or_else(|| invalid("Input/sizeBytes can not be less than 1"))?;
    if text(&input, "mimeType")? != "video/mp4" {
        return Err(refused("UnsupportedContentType", "the type is not supported"));
    }
    let now_ms = cx.now_ms();
    let left = account.read(|state| video::left(state, now_ms));
    check_declared(&input, size, left.bytes)?;
    match left.refusal {
        Some(("daily_limit_exceeded", message)) => {
            return Err(refused("DailyLimitExceeded", message));
        }
        Some((_, message)) => return Err(refused("UploadForbidden", message)),
        None => {}
    }
    let is_open = |upload: &Upload| ended(upload, now_ms).is_none();
    if account.read(|state| state.uploads.values().filter(|one| is_open(one)).count()) >= OPEN_MAX {
        return Err(refused("TooManyOpenUploads", "there are too many open uploads"));
    }
    let id = format!("{}.{}", account.identity.remote_id, random::text(BASE32, 20));
    let upload = Upload { size, at_ms: now_ms, ..Upload::default() };
    let answer = json!({"jobId": id, "partSizeBytes": PART, "partCount": upload.parts_wanted(),
        "expiresAt": upload.expires()});
    cx.sim.apply(&account, Change::Upload { id, upload });
    Ok(Reply::ok(&answer))
}

fn check_declared(input: &Map<String, Value>, size: u64, left: u64) -> Result<(), Reply> {
    if size > VIDEO_MAX.min(left) {
        return Err(refused("VideoTooLarge", "the video is too large"));
    }
    let number = |name: &str| input.get(name).and_then(Value::as_i64);
    if number("durationMs").is_some_and(|ms| ms > VIDEO_MS_MAX) {
        return Err(refused("VideoTooLong", "the video is too long"));
    }
    if ["width", "height"].iter().any(|side| number(side).is_some_and(|pixels| pixels < 1)) {
        return Err(refused("BadAspectRatio", "the aspect ratio is not supported"));
    }
    Ok(())
}

/// `app.bsky.video.uploadPart`
pub(super) fn part(cx: &Cx) -> HandlerResult {
    let account = owner(cx, "uploadPart")?;
    let id = param(&cx.call, "jobId")?;
    let number: u64 = param(&cx.call, "partNumber")?
        .parse()
        .map_err(|_| invalid("partNumber must be an integer"))?;
    let upload = find(&account, &id)?;
    if let Some(refusal) = ended(&upload, cx.now_ms()) {
        return Err(refusal);
    }
    if !(1..=upload.parts_wanted()).contains(&number) {
        return Err(refused("InvalidPartNumber", "the upload has no such part"));
    }
    let size = cx.call.body.len() as u64;
    if size != upload.size_of(number) {
        return Err(refused("PartSizeMismatch", "the part has another size"));
    }
    let is_video = picture::video(&cx.call.body) == Some("video/mp4");
    let part = Part { cid: cid::of_bytes(&cx.call.body), is_video };
    cx.sim.apply(&account, Change::UploadPart { id, number, part });
    Ok(Reply::ok(&json!({"partNumber": number, "sizeBytes": size})))
}

/// `app.bsky.video.finishUpload`
pub(super) fn finish(cx: &Cx) -> HandlerResult {
    let account = owner(cx, "finishUpload")?;
    let input = input(&cx.call)?;
    let id = text(&input, "jobId")?.to_owned();
    let upload = find(&account, &id)?;
    if let Some(UploadEnd::Completed { job }) = &upload.end {
        return Ok(finished(cx, &account, job));
    }
    if let Some(refusal) = ended(&upload, cx.now_ms()) {
        return Err(refusal);
    }
    let missing: Vec<_> =
        (1..=upload.parts_wanted()).filter(|n| !upload.parts.contains_key(n)).collect();
    if !missing.is_empty() {
        return Err(refused("MissingParts", &format!("missing parts: {missing:?}")));
    }
    if upload.parts.get(&1).is_some_and(|first| !first.is_video) {
        return Err(refused("UnsupportedContentType", "the file is not an MP4 video"));
    }
    let cids: Vec<_> = upload.parts.values().map(|part| part.cid.as_str()).collect();
    let cid = match cids.as_slice() {
        [only] => (*only).to_owned(),
        several => cid::of_bytes(several.concat().as_bytes()),
    };
    let (job, _) = video::begin(cx, &account, &cid, (upload.size, true))?;
    let end = UploadEnd::Completed { job: job.clone() };
    cx.sim.apply(&account, Change::UploadEnd { id, end });
    Ok(finished(cx, &account, &job))
}

fn finished(cx: &Cx, account: &Owner, job: &str) -> Reply {
    let found = account.read(|state| state.jobs.get(job).cloned());
    let status = found.map(|found| video::status(job, account, &found, cx.now_ms()));
    Reply::ok(&json!({"completedJobId": job, "jobStatus": status}))
}

/// `app.bsky.video.abortUpload`
pub(super) fn abort(cx: &Cx) -> HandlerResult {
    let account = owner(cx, "abortUpload")?;
    let input = input(&cx.call)?;
    let id = text(&input, "jobId")?.to_owned();
    let upload = find(&account, &id)?;
    let answer = match &upload.end {
        Some(UploadEnd::Completed { job }) => json!({"state": "completed", "completedJobId": job}),
        Some(UploadEnd::Aborted) => json!({"state": "aborted"}),
        None if cx.now_ms() >= upload.at_ms + LIFE_MS => json!({"state": "expired"}),
        None => {
            cx.sim.apply(&account, Change::UploadEnd { id, end: UploadEnd::Aborted });
            json!({"state": "aborted"})
        }
    };
    Ok(Reply::ok(&answer))
}

/// `app.bsky.video.getUploadStatus`
pub(super) fn upload_status(cx: &Cx) -> HandlerResult {
    let account = owner(cx, "getUploadStatus")?;
    let id = param(&cx.call, "jobId")?;
    let upload = find(&account, &id)?;
    let received: Vec<_> = upload.parts.keys().collect();
    let mut answer = json!({"jobId": id, "partSizeBytes": PART, "partCount": upload.parts_wanted(),
        "receivedParts": received, "expiresAt": upload.expires()});
    answer["state"] = json!(match &upload.end {
        Some(UploadEnd::Completed { .. }) => "completed",
        Some(UploadEnd::Aborted) => "aborted",
        None if cx.now_ms() >= upload.at_ms + LIFE_MS => "expired",
        None => "created",
    });
    if let Some(UploadEnd::Completed { job }) = &upload.end {
        answer["completedJobId"] = json!(job);
        if let Some(found) = account.read(|state| state.jobs.get(job).cloned()) {
            answer["jobStatus"] = video::status(job, &account, &found, cx.now_ms());
        }
    }
    Ok(Reply::ok(&answer))
}
