//! The upload of a video, and the status of a post.

use serde_json::json;

use super::state::{Begun, Change};
use super::{Cx, access, begin, creator, failure};
use crate::call::Call;
use crate::network::Medium;
use crate::rate_limit::Limit;
use crate::received_file::ReceivedFile;
use crate::reply::{HandlerResult, Reply};
use crate::video_index::{BROWSER_FORMATS, VideoRequirements};

/// The time for which an upload address is valid, in milliseconds.
const UPLOAD_MS: i64 = 3_600_000;
/// The time that a fetch may take; a restart of the sandbox aborts running ones.
const PULL_MS: i64 = 5 * 60_000;
/// The video formats that are accepted.
const FILMS: VideoRequirements = VideoRequirements { frames: (23.0, 60.0), ..BROWSER_FORMATS };

/// `Content-Range: bytes first-last/size`
fn range(call: &Call) -> Option<(u64, u64, u64)> {
    let text = call.header("content-range")?.strip_prefix("bytes ")?;
    let (bytes, size) = text.split_once('/')?;
    let (first, last) = bytes.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?, size.parse().ok()?))
}

/// Returns true if a request sends the last bytes of a video, after which it becomes public.
pub(super) fn is_last(call: &Call) -> bool {
    range(call).is_some_and(|(_, last, size)| last + 1 == size)
}

/// `PUT /video/?upload_id=…&upload_token=…`: the next chunk; the address is the only credential.
pub(super) fn put(cx: &Cx) -> HandlerResult {
    let query = |name: &str| cx.call.query_value(name).unwrap_or_default();
    let (publish_id, token) = (query("upload_id"), query("upload_token"));
    let gone = || failure::upload(403, "Forbidden: the upload URL is not valid or has expired");
    let account = access::owner(&cx.sim, &publish_id).ok_or_else(gone)?;
    let now_ms = cx.now_ms();
    let (first, last, size) =
        range(&cx.call).ok_or_else(|| failure::upload(400, "Content-Range is missing"))?;
    cx.sim.change(&account, |state| {
        let begun = state.begun.get(&publish_id).ok_or_else(gone)?;
        let upload =
            begun.upload.as_ref().filter(|upload| upload.token == token).ok_or_else(gone)?;
        if now_ms > begun.at_ms + UPLOAD_MS || begun.ready_ms.is_some() {
            return Err(gone());
        }
        let number = upload.received / upload.chunk;
        let is_last = number + 1 >= upload.count;
        let end = if is_last { upload.size } else { upload.received + upload.chunk };
        let fits = size == upload.size && first == upload.received && last + 1 == end;
        if !fits {
            return Err(failure::upload(
                416,
                "Content-Range does not reflect the actual upload progress",
            ));
        }
        if cx.call.body.len() as u64 != end - first {
            return Err(failure::upload(400, "Content-Length does not match Content-Range"));
        }
        let mime = (first == 0).then(|| {
            let seen = ReceivedFile::of(&cx.call.body).video(FILMS);
            seen.unwrap_or("application/octet-stream").to_owned()
        });
        if !is_last {
            return Ok((Change::Received { publish_id, received: end, mime }, Reply::empty(206)));
        }
        let mime = mime.unwrap_or_else(|| upload.mime.clone());
        let flaw = (!mime.starts_with("video/")).then_some("file_format_check_failed");
        let whole = first == 0;
        let sha256 = whole.then(|| ReceivedFile::of(&cx.call.body).sha256);
        let medium = Medium { url: None, size: Some(size), mime, alt: None, sha256 };
        let change =
            begin::finished(cx, &publish_id, begun.info.clone(), vec![medium], flaw, false);
        Ok((change, Reply::empty(201)))
    })
}

/// `POST /v2/post/publish/status/fetch/`
pub(super) fn status(cx: &Cx) -> HandlerResult {
    const MINUTE: Limit = Limit { name: "status", units: 30, span_ms: 60_000 };
    let account = access::account_with_scope(cx, "video.publish")?;
    super::count_call(cx, &account, MINUTE)?;
    let body = cx.call.json().unwrap_or_default();
    let publish_id = body["publish_id"].as_str().unwrap_or_default();
    let now_ms = cx.now_ms();
    let late_ms = i64::from(account.behaviour().ids.late_ms);
    let shown = account.read(|state| {
        let begun = state.begun.get(publish_id)?;
        let uploaded = begun.upload.as_ref().map(|upload| upload.received);
        let (status, flaw) = progress_of(begun, now_ms);
        let mut shown = json!({"status": status, "publicaly_available_post_id": []});
        if let Some(bytes) = uploaded {
            shown["uploaded_bytes"] = json!(bytes);
        }
        if let Some(flaw) = flaw {
            shown["fail_reason"] = json!(flaw);
        }
        let post = begun.post.and_then(|id| state.posts.get(&id));
        let is_told = |post: &&super::state::Post| {
            creator::is_public(post, now_ms - late_ms)
                && account.is_for_others(&post.id.to_string())
        };
        if let Some(post) = post.filter(is_told) {
            shown["publicaly_available_post_id"] = json!([post.id]);
        }
        Some(shown)
    });
    let missing = || failure::error(400, "invalid_publish_id", "The publish_id does not exist");
    failure::success(shown.ok_or_else(missing)?)
}

fn progress_of(begun: &Begun, now_ms: i64) -> (&'static str, Option<String>) {
    let under_way =
        if begun.upload.is_some() { "PROCESSING_UPLOAD" } else { "PROCESSING_DOWNLOAD" };
    match (begun.ready_ms, &begun.flaw) {
        (Some(ready_ms), _) if now_ms < ready_ms => (under_way, None),
        (Some(_), Some(flaw)) => ("FAILED", Some(flaw.clone())),
        (Some(_), None) => ("PUBLISH_COMPLETE", None),
        (None, _) if begun.upload.is_none() && now_ms > begun.at_ms + PULL_MS => {
            ("FAILED", Some("photo_pull_failed".to_owned()))
        }
        (None, _) => (under_way, None),
    }
}
