//! Files: uploaded in one call, or initialized, sent in chunks, finalized and processed.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::failure::{problem, wrong};
use super::state::{Change, Upload};
use super::{Cx, access, id, schema};
use crate::params::Params;
use crate::picture;
use crate::received_file::ReceivedFile;
use crate::reply::{HandlerResult, Reply};
use crate::video_index::{H264, VideoRequirements};

const IMAGE_BYTES: u64 = 5 << 20;
const GIF_BYTES: u64 = 15 << 20;
const VIDEO_BYTES: u64 = 512 << 20;
const PIECE_BYTES: u64 = 5 << 20;
const PIECES: i64 = 999;
const ALT: usize = 1_000;
/// The time for which an unused file is kept, in seconds.
const UNUSED_SECS: i64 = 86_400;

/// Returns the parameters of the request, which must have these names alone.
fn params(cx: &Cx, known: &[&str]) -> Result<Params, Reply> {
    let params = Params::read(&cx.call).map_err(|_| wrong("The request body is invalid."))?;
    schema::only(params.names(), known, "$")?;
    Ok(params)
}

/// `POST /2/media/upload`: an image in one request.
pub(super) fn upload(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let params = params(cx, schema::UPLOAD)?;
    let category = params.filled("media_category").unwrap_or_default();
    if category != "tweet_image" {
        return Err(wrong("$.media_category: does not have a value in the enumeration"));
    }
    let file =
        params.file("media").ok_or_else(|| wrong("$.media: is missing but it is required"))?;
    let whole = ReceivedFile::of(&file.bytes);
    if whole.size > IMAGE_BYTES {
        return Err(problem(413, "Payload Too Large", "media is too large"));
    }
    let sniffed = picture::picture(&whole.head).map(|picture| picture.mime);
    let sniffed = sniffed.filter(|mime| *mime != "image/gif");
    let media_type = sniffed.ok_or_else(|| wrong("media type unrecognized."))?.to_owned();
    let (id, at_ms) = (id(cx), cx.now_ms());
    let upload = Upload {
        id,
        at_ms,
        category,
        media_type: media_type.clone(),
        total: whole.size,
        pieces: BTreeMap::new(),
        sniffed: Some(media_type),
        sha256: Some(whole.sha256),
        ready_ms: Some(at_ms),
        flaw: None,
        alt: None,
        source: None,
    };
    let view = view(&upload, at_ms);
    cx.sim.apply(&account, Change::Upload(upload));
    Ok(Reply::ok(&json!({ "data": view })))
}

/// `POST /2/media/upload/initialize`
pub(super) fn initialize(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let params = params(cx, schema::INITIALIZE)?;
    let required = |name: &str| {
        params
            .filled(name)
            .ok_or_else(|| wrong(&format!("$.{name}: is missing but it is required")))
    };
    let (category, media_type) = (required("media_category")?, required("media_type")?);
    let (types, most): (&[&str], u64) = match category.as_str() {
        "tweet_video" | "amplify_video" => (&["video/mp4", "video/quicktime"], VIDEO_BYTES),
        "tweet_gif" => (&["image/gif"], GIF_BYTES),
        "tweet_image" => (&["image/jpeg", "image/png", "image/webp"], IMAGE_BYTES),
        _ => return Err(wrong("$.media_category: does not have a value in the enumeration")),
    };
    if !types.contains(&media_type.as_str()) {
        return Err(wrong("$.media_type: does not have a value in the enumeration"));
    }
    let total = params.integer("total_bytes").and_then(|total| u64::try_from(total).ok());
    let total = total.filter(|total| (1..=most).contains(total));
    let total = total.ok_or_else(|| wrong(&format!("File size exceeds {most} bytes.")))?;
    let (id, at_ms) = (id(cx), cx.now_ms());
    let upload = Upload {
        id,
        at_ms,
        category,
        media_type,
        total,
        pieces: BTreeMap::new(),
        sniffed: None,
        sha256: None,
        ready_ms: None,
        flaw: None,
        alt: None,
        source: None,
    };
    let view = view(&upload, at_ms);
    cx.sim.apply(&account, Change::Upload(upload));
    Ok(Reply::ok(&json!({ "data": view })))
}

/// The video formats that are accepted.
const FILMS: VideoRequirements = VideoRequirements { frames: (0.0, 60.0), ..H264 };

/// `POST /2/media/upload/{id}/append`
pub(super) fn append(cx: &Cx) -> HandlerResult {
    let params = params(cx, schema::APPEND)?;
    let index = params.integer("segment_index").filter(|index| (0..=PIECES).contains(index));
    let index = index.and_then(|index| u32::try_from(index).ok());
    let index = index.ok_or_else(|| wrong("$.segment_index: must be from 0 to 999"))?;
    let piece =
        params.file("media").ok_or_else(|| wrong("$.media: is missing but it is required"))?;
    let size = piece.bytes.len() as u64;
    if size > PIECE_BYTES {
        return Err(problem(413, "Payload Too Large", "segment is too large"));
    }
    let whole = ReceivedFile::of(&piece.bytes);
    let image = picture::picture(&piece.bytes).map(|picture| picture.mime);
    // Only the start of a file is searched for the index of a video.
    let head = image.or_else(|| whole.video(FILMS)).map(str::to_owned);
    change(cx, |mut upload| {
        if upload.ready_ms.is_some() {
            return Err(wrong("The media was already finalized."));
        }
        if index == 0 {
            (upload.sniffed, upload.sha256) = (head, Some(whole.sha256));
        }
        upload.pieces.insert(index, size);
        Ok(upload)
    })?;
    Ok(Reply::ok(&json!({"data": {"expires_at": cx.now_ms() / 1_000 + UNUSED_SECS}})))
}

/// `POST /2/media/upload/{id}/finalize`
pub(super) fn finalize(cx: &Cx) -> HandlerResult {
    let now_ms = cx.now_ms();
    let ready_ms = now_ms + cx.sim.env.processing_ms();
    let upload = change(cx, |mut upload| {
        let in_order = upload.pieces.keys().copied().eq(0..upload.pieces.len() as u32);
        let sum: u64 = upload.pieces.values().sum();
        if !in_order || sum != upload.total {
            return Err(wrong("Segments do not add up to provided total file size."));
        }
        if upload.pieces.len() > 1 {
            upload.sha256 = None;
        }
        let fits = match upload.category.as_str() {
            "tweet_video" | "amplify_video" => {
                matches!(upload.sniffed.as_deref(), Some("video/mp4" | "video/quicktime"))
            }
            _ => upload.sniffed.as_deref() == Some(upload.media_type.as_str()),
        };
        upload.flaw = (!fits).then(|| "file is currently unsupported".to_owned());
        upload.ready_ms = Some(ready_ms);
        Ok(upload)
    })?;
    Ok(Reply::ok(&json!({"data": view(&upload, now_ms)})))
}

/// Changes the file in the path.
fn change(cx: &Cx, make: impl FnOnce(Upload) -> Result<Upload, Reply>) -> Result<Upload, Reply> {
    let account = access::account(cx)?;
    let named = cx.call.segment(3).to_owned();
    cx.sim.change(&account, |state| {
        let upload = named.parse().ok().and_then(|id: u64| state.media.get(&id));
        let upload = make(upload.ok_or_else(|| unknown(&named))?.clone())?;
        Ok((Change::Upload(upload.clone()), upload))
    })
}

fn unknown(id: &str) -> Reply {
    wrong(&format!("Media id {id} is invalid or has expired."))
}

/// `GET /2/media/upload?command=STATUS`
pub(super) fn status(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    if cx.call.query_value("command").as_deref() != Some("STATUS") {
        return Err(wrong("The `command` query parameter value must be STATUS."));
    }
    let named = cx.call.query_value("media_id").unwrap_or_default();
    let now_ms = cx.now_ms();
    let shown = account.read(|state| {
        let upload = named.parse().ok().and_then(|id: u64| state.media.get(&id));
        upload.filter(|upload| upload.ready_ms.is_some()).map(|upload| view(upload, now_ms))
    });
    let shown = shown.ok_or_else(|| unknown(&named))?;
    Ok(Reply::ok(&json!({ "data": shown })))
}

/// `POST /2/media/metadata`
pub(super) fn metadata(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let body = cx.call.json().map_err(|_| wrong("The request body is invalid."))?;
    let names = body.as_object().into_iter().flat_map(serde_json::Map::keys);
    schema::only(names.map(String::as_str), schema::METADATA, "$")?;
    let named = body["id"].as_str().unwrap_or_default().to_owned();
    let text = body["metadata"]["alt_text"]["text"].as_str();
    let text = text.filter(|text| (1..=ALT).contains(&text.chars().count()));
    let text =
        text.ok_or_else(|| wrong("$.metadata.alt_text.text: must have 1 to 1000 characters"))?;
    cx.sim.change(&account, |state| {
        let upload = named.parse().ok().and_then(|id: u64| state.media.get(&id));
        let upload = upload.ok_or_else(|| unknown(&named))?.clone();
        Ok((Change::Upload(Upload { alt: Some(text.to_owned()), ..upload }), ()))
    })?;
    let alt = json!({"id": named, "associated_metadata": {"alt_text": {"text": text}}});
    Ok(Reply::ok(&json!({ "data": alt })))
}

/// Returns a file as responses show it. Only files that need processing have a status.
fn view(upload: &Upload, now_ms: i64) -> Value {
    let mut view = json!({
        "id": upload.id.to_string(),
        "media_key": format!("3_{}", upload.id),
        "expires_after_secs": UNUSED_SECS,
    });
    let Some(ready_ms) = upload.ready_ms else { return view };
    view["size"] = json!(upload.total);
    if upload.category == "tweet_image" {
        return view;
    }
    view["processing_info"] = match (&upload.flaw, now_ms >= ready_ms) {
        (_, false) => json!({"state": "pending", "check_after_secs": 1}),
        (Some(flaw), true) => {
            json!({"state": "failed", "progress_percent": 0, "error": {"code": 3, "name": "UnsupportedMedia", "message": flaw}})
        }
        (None, true) => json!({"state": "succeeded", "progress_percent": 100}),
    };
    view
}
