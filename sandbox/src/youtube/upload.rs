//! Uploads of videos: their metadata and their bytes.

use serde_json::{Value, json};

use super::state::{Change, Upload, Video};
use super::{Cx, access, channel, failure};
use crate::call::Call;
use crate::google::access as google;
use crate::network::Medium;
use crate::picture;
use crate::random::{self, BASE62};
use crate::received_file::ReceivedFile;
use crate::reply::{HandlerResult, Reply};

const VIDEO_MAX: u64 = 274_877_906_944;
/// Every chunk but the last is a multiple of this.
const GRAIN: u64 = 256 << 10;
/// The time for which an upload address is valid: about a week.
const ADDRESS_MS: i64 = 7 * 86_400_000;

/// Returns the error in a video's texts.
fn flaw(resource: &Value) -> Option<(&'static str, &'static str)> {
    let (snippet, status) = (&resource["snippet"], &resource["status"]);
    let text = |name: &str| snippet[name].as_str().unwrap_or_default();
    let angled = |text: &str| text.contains(['<', '>']);
    let title = text("title");
    if title.trim().is_empty() || title.chars().count() > 100 || angled(title) {
        return Some(("invalidTitle", "The request metadata specifies an invalid video title."));
    }
    let description = text("description");
    if description.len() > 5_000 || angled(description) {
        return Some(("invalidDescription", "The video description is invalid."));
    }
    let tags = snippet["tags"].as_array().cloned().unwrap_or_default();
    let quotes = |tag: &str| if tag.contains(' ') { 2 } else { 0 };
    let length = |tag: &Value| tag.as_str().map_or(1_000, |it| it.chars().count() + quotes(it));
    if tags.iter().map(length).sum::<usize>() + tags.len().saturating_sub(1) > 500 {
        return Some(("invalidTags", "The request metadata specifies invalid video keywords."));
    }
    let category = text("categoryId");
    if !category.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(("invalidCategoryId", "The categoryId is invalid."));
    }
    let privacy = status["privacyStatus"].as_str().unwrap_or("public");
    if !["public", "unlisted", "private"].contains(&privacy) {
        return Some(("invalidVideoMetadata", "The request metadata is invalid."));
    }
    None
}

/// `POST /upload/youtube/v3/videos?uploadType=resumable&part=…`: returns the upload address.
pub(super) fn begin(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scope(cx, &["youtube.upload"], access::UPLOADS)?;
    if cx.call.query_value("uploadType").as_deref() != Some("resumable") {
        return Err(failure::error(400, "badContent", "The upload type is not supported."));
    }
    let resource = cx.call.json().unwrap_or_default();
    if let Some((reason, message)) = flaw(&resource) {
        return Err(failure::error(400, reason, message));
    }
    let size = cx.call.header("x-upload-content-length").and_then(|size| size.parse().ok());
    let size = size.filter(|size| (1..=VIDEO_MAX).contains(size));
    let size = size.ok_or_else(|| {
        failure::error(400, "mediaBodyRequired", "The request does not include the video content.")
    })?;
    let mime = cx.call.header("x-upload-content-type").unwrap_or_default();
    if !mime.starts_with("video/") && mime != "application/octet-stream" {
        return Err(failure::error(400, "badContent", "Media type is not supported."));
    }
    let upload_id = google::new_token("up", &account.identity.remote_id);
    let (at_ms, mime) = (cx.now_ms(), String::new());
    let upload = Upload {
        upload_id: upload_id.clone(),
        at_ms,
        resource,
        size,
        received: 0,
        mime,
        video: None,
    };
    cx.sim.apply(&account, Change::Begun(upload));
    let base = cx.sim.base();
    let address =
        format!("{base}/upload/youtube/v3/videos?uploadType=resumable&upload_id={upload_id}");
    Ok(Reply::empty(200).with("location", address))
}

/// The range in a `Content-Range` header.
enum Range {
    /// `bytes */size`: only asks for the status.
    Asked(u64),
    /// `bytes first-last/size`, with the exclusive end instead of the last byte.
    Sent(u64, u64, u64),
}

fn range(call: &Call) -> Option<Range> {
    let (bytes, size) = call.header("content-range")?.strip_prefix("bytes ")?.split_once('/')?;
    let size = size.parse().ok()?;
    if bytes == "*" {
        return Some(Range::Asked(size));
    }
    let (first, last) = bytes.split_once('-')?;
    Some(Range::Sent(first.parse().ok()?, last.parse::<u64>().ok()?.checked_add(1)?, size))
}

/// Returns true if a request only asks how much has arrived.
pub(super) fn is_question(call: &Call) -> bool {
    matches!(range(call), Some(Range::Asked(_)))
}

/// Returns true if a request sends the last bytes, after which the video exists.
pub(super) fn is_last(call: &Call) -> bool {
    matches!(range(call), Some(Range::Sent(_, end, size)) if end == size)
}

fn incomplete(received: u64) -> Reply {
    match received.checked_sub(1) {
        Some(last) => Reply::empty(308).with("range", format!("bytes=0-{last}")),
        None => Reply::empty(308),
    }
}

/// `PUT` to that address: the next chunk, or a status request.
pub(super) fn put(cx: &Cx) -> HandlerResult {
    let upload_id = cx.call.query_value("upload_id").unwrap_or_default();
    let gone = || failure::error(404, "notFound", "The upload does not exist.");
    let account = google::owner(&cx.sim, &upload_id).ok_or_else(gone)?;
    if cx.call.bearer().is_some() {
        access::account_with_scope(cx, &["youtube.upload"], (access::READ.0, 0))?;
    }
    let bad = || failure::error(400, "badRequest", "Failed to parse Content-Range header.");
    let range = range(&cx.call).ok_or_else(bad)?;
    let now_ms = cx.now_ms();
    let known = account.read(|state| state.uploads.get(&upload_id).cloned());
    let upload = known.filter(|one| now_ms <= one.at_ms + ADDRESS_MS).ok_or_else(gone)?;
    if let Some(number) = upload.video {
        let shown =
            account.read(|state| state.videos.get(&number).map(|v| channel::shown(v, now_ms)));
        return Ok(Reply::ok(&shown));
    }
    match range {
        Range::Asked(size) if size == upload.size => Ok(incomplete(upload.received)),
        Range::Sent(first, end, size) if size == upload.size => {
            receive(cx, &account, &upload_id, (first, end))
        }
        _ => Err(bad()),
    }
}

fn receive(
    cx: &Cx,
    account: &crate::sim::Account<super::Youtube>,
    upload_id: &str,
    (first, end): (u64, u64),
) -> HandlerResult {
    let bad = |message: &str| failure::error(400, "badRequest", message);
    cx.sim.change(account, |state| {
        let upload = state.uploads.get(upload_id).ok_or_else(|| bad("The upload is gone."))?;
        if first != upload.received || end <= first || end > upload.size {
            return Err(bad("The chunk does not begin where the last one ended."));
        }
        if cx.call.body.len() as u64 != end - first {
            return Err(bad("Content-Length does not match Content-Range."));
        }
        let seen = || picture::video(&cx.call.body).unwrap_or_default().to_owned();
        let mime = (first == 0).then(seen);
        let upload_id = upload_id.to_owned();
        if end < upload.size {
            if (end - first) % GRAIN != 0 {
                return Err(bad("The size of a chunk must be a multiple of 262144."));
            }
            return Ok((Change::Received { upload_id, received: end, mime }, incomplete(end)));
        }
        let video = whole(cx, upload, mime.unwrap_or_else(|| upload.mime.clone()), first == 0);
        let shown = channel::shown(&video, cx.now_ms());
        Ok((Change::Whole { upload_id, video }, Reply::ok(&shown)))
    })
}

fn whole(cx: &Cx, upload: &Upload, mime: String, is_all: bool) -> Video {
    let at_ms = cx.now_ms();
    let sha256 = is_all.then(|| ReceivedFile::of(&cx.call.body).sha256);
    let flaw = mime.is_empty().then(|| "invalidFile".to_owned());
    let mime = if mime.is_empty() { "application/octet-stream".to_owned() } else { mime };
    Video {
        number: cx.sim.env.unique_number(),
        id: random::text(BASE62, 11),
        at_ms,
        ready_ms: at_ms + cx.sim.env.processing_ms(),
        resource: json!({
            "snippet": upload.resource["snippet"],
            "status": upload.resource["status"],
            "paidProductPlacementDetails": upload.resource["paidProductPlacementDetails"],
        }),
        media: Medium { url: None, size: Some(upload.size), mime, alt: None, sha256 },
        thumbnail: None,
        flaw,
    }
}
