//! Uploads: initializing, sending the bytes, finalizing a video, and the processing status.

use serde_json::{Value, json};

use super::state::{Asset, Change, Kind, Received};
use super::{Cx, access, failure, urn_of};
use crate::network::Medium;
use crate::picture;
use crate::random::{self, BASE62};
use crate::received_file::ReceivedFile;
use crate::reply::{HandlerResult, Reply};
use crate::video_index::H264;

/// The size of a video's parts.
const PART: u64 = 4 << 20;
const VIDEO_MAX: u64 = 500 << 20;
const PIXELS_MAX: u64 = 36_152_320;

fn kind_of(name: &str) -> Option<Kind> {
    [Kind::Image, Kind::Video, Kind::Document]
        .into_iter()
        .find(|kind| format!("{}s", kind.as_str()) == name)
}

/// Returns the kind in the path.
fn kind(cx: &Cx) -> Result<Kind, Reply> {
    kind_of(cx.call.segment(1)).ok_or_else(|| failure::missing(cx.call.segment(1)))
}

/// `POST /rest/{images|videos|documents}?action=…`
pub(super) fn act(cx: &Cx) -> HandlerResult {
    access::version(cx)?;
    let body = cx.call.json().map_err(|_| failure::malformed("The body is no JSON"))?;
    match (cx.call.query_value("action").as_deref(), kind(cx)?) {
        (Some("initializeUpload"), kind) => initialize(cx, kind, &body["initializeUploadRequest"]),
        (Some("finalizeUpload"), Kind::Video) => finalize(cx, &body["finalizeUploadRequest"]),
        _ => Err(failure::malformed("No such action")),
    }
}

fn initialize(cx: &Cx, kind: Kind, wanted: &Value) -> HandlerResult {
    let owner = wanted["owner"].as_str().ok_or_else(|| failure::invalid("owner", "is required"))?;
    let account = access::author(cx, owner, "POST /images?action=initializeUpload")?;
    super::count_request(cx, &account)?;
    let id = format!(
        "AQ{}{}{}",
        account.identity.private("sub"),
        cx.sim.env.unique_number(),
        random::text(BASE62, 6)
    );
    let urn = format!("urn:li:{}:{id}", kind.as_str());
    let place = |part: &str| format!("{}/dms-uploads/{id}/{part}", cx.sim.base());
    let mut value = json!({"uploadUrlExpiresAt": cx.now_ms() + 86_400_000});
    value[kind.as_str()] = json!(urn);
    let (mut parts, mut token) = (vec![0], String::new());
    if kind == Kind::Video {
        let size = wanted["fileSizeBytes"].as_u64().filter(|size| *size > 0 && *size <= VIDEO_MAX);
        let size =
            size.ok_or_else(|| failure::invalid("fileSizeBytes", "must be from 1 to 524288000"))?;
        token = random::text(BASE62, 32);
        parts = (0..size.div_ceil(PART)).map(|part| PART.min(size - part * PART)).collect();
        let instruction = |(number, bytes): (usize, &u64)| {
            let first = PART * number as u64;
            json!({"uploadUrl": place(&number.to_string()), "firstByte": first, "lastByte": first + bytes - 1})
        };
        value["uploadInstructions"] = parts.iter().enumerate().map(instruction).collect();
        value["uploadToken"] = json!(token);
        if wanted["uploadThumbnail"] == true {
            value["thumbnailUploadUrl"] = json!(place("thumbnail"));
        }
    } else {
        value["uploadUrl"] = json!(place("0"));
    }
    let asset = Asset {
        urn,
        kind,
        owner: owner.to_owned(),
        parts,
        received: Default::default(),
        token,
        thumbnail: false,
        ready_ms: None,
        flaw: None,
    };
    cx.sim.apply(&account, Change::Asset(asset));
    Ok(Reply::ok(&json!({"value": value})))
}

/// `PUT /dms-uploads/{file}/{part}`; the address is the only credential.
pub(super) fn put(cx: &Cx) -> HandlerResult {
    let (id, part) = (cx.call.segment(1), cx.call.segment(2));
    let gone = || failure::missing("upload");
    let account = access::owner(&cx.sim, id).ok_or_else(gone)?;
    let file = ReceivedFile::of(&cx.call.body);
    let now_ms = cx.now_ms();
    let ready_ms = now_ms + cx.sim.env.processing_ms();
    let etag = format!("/ambry-video/signedId/{}", file.sha256);
    cx.sim.change(&account, |state| {
        let asset = state
            .assets
            .values()
            .find(|asset| asset.urn.ends_with(&format!(":{id}")))
            .ok_or_else(gone)?;
        if asset.ready_ms.is_some() {
            return Err(failure::error(400, "BAD_REQUEST", "The file was uploaded already"));
        }
        let urn = asset.urn.clone();
        if part == "thumbnail" {
            if cx.call.header("media-type-family") != Some("STILLIMAGE") {
                return Err(failure::error(
                    400,
                    "BAD_REQUEST",
                    "media-type-family must be STILLIMAGE",
                ));
            }
            return Ok((Change::Thumbnail { urn }, ()));
        }
        let number: usize = part.parse().map_err(|_| gone())?;
        let wanted = *asset.parts.get(number).ok_or_else(gone)?;
        let is_video = asset.kind == Kind::Video;
        if is_video && wanted != file.size {
            return Err(failure::error(
                400,
                "BAD_REQUEST",
                &format!("The part has {wanted} bytes"),
            ));
        }
        let (mime, flaw) = judge(asset.kind, number, &file);
        let medium = Medium {
            url: None,
            size: Some(file.size),
            mime: mime.to_owned(),
            alt: None,
            sha256: Some(file.sha256.clone()),
        };
        let received = Received { etag: etag.clone(), medium };
        let ready_ms = (!is_video).then_some(ready_ms);
        Ok((Change::Received { urn, part: number, received, ready_ms, flaw }, ()))
    })?;
    Ok(Reply::empty(201).with("etag", etag))
}

/// Returns the type of a file by its bytes, and its error, if any.
fn judge(kind: Kind, part: usize, file: &ReceivedFile) -> (&'static str, Option<String>) {
    let flawed = |why: &str| Some(why.to_owned());
    match kind {
        Kind::Image => match picture::picture(&file.head) {
            Some(picture) if picture.mime != "image/webp" => {
                let pixels = u64::from(picture.width) * u64::from(picture.height);
                (
                    picture.mime,
                    flawed("The image has too many pixels").filter(|_| pixels > PIXELS_MAX),
                )
            }
            _ => ("application/octet-stream", flawed("The image is no JPG, PNG or GIF")),
        },
        Kind::Video if part > 0 => ("video/mp4", None),
        Kind::Video => match file.video(H264) {
            Some("video/mp4") => ("video/mp4", None),
            _ => ("application/octet-stream", flawed("The video is no MP4")),
        },
        Kind::Document if file.head.starts_with(b"%PDF-") => ("application/pdf", None),
        Kind::Document => ("application/octet-stream", flawed("The document cannot be read")),
    }
}

fn finalize(cx: &Cx, wanted: &Value) -> HandlerResult {
    let (account, _) = access::account(cx)?;
    let urn = wanted["video"].as_str().unwrap_or_default();
    let called: Vec<&str> = wanted["uploadedPartIds"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let now_ms = cx.now_ms();
    cx.sim.change(&account, |state| {
        let asset = state.assets.get(urn).filter(|asset| asset.kind == Kind::Video);
        let asset = asset.ok_or_else(|| failure::missing(urn))?;
        if wanted["uploadToken"].as_str() != Some(asset.token.as_str()) {
            return Err(failure::invalid("uploadToken", "does not belong to the video"));
        }
        let etags: Vec<&str> = asset.received.values().map(|one| one.etag.as_str()).collect();
        if asset.received.len() != asset.parts.len() || etags != called {
            return Err(failure::invalid("uploadedPartIds", "must name all parts in their order"));
        }
        let ready_ms = now_ms + cx.sim.env.processing_ms();
        Ok((Change::Finished { urn: urn.to_owned(), ready_ms, flaw: asset.flaw.clone() }, ()))
    })?;
    Ok(Reply::empty(200))
}

/// `GET /rest/{images|videos|documents}/{urn}`
pub(super) fn get(cx: &Cx) -> HandlerResult {
    access::version(cx)?;
    let (account, _) = access::account(cx)?;
    let (kind, urn) = (kind(cx)?, urn_of(cx, 2));
    let asset = account.read(|state| state.assets.get(&urn).cloned());
    let asset = asset.filter(|asset| asset.kind == kind).ok_or_else(|| failure::missing(&urn))?;
    // An app may not read the status of a member's uploads, except videos.
    if kind != Kind::Video && asset.owner == access::person(&account.identity) {
        return Err(failure::denied("Not enough permissions to access: GET"));
    }
    let mut shown = json!({"id": urn, "owner": asset.owner, "status": status(&asset, cx.now_ms())});
    if let Some(flaw) = asset.flaw.filter(|_| shown["status"] == "PROCESSING_FAILED") {
        shown["processingFailureReason"] = json!(flaw);
    }
    Ok(Reply::ok(&shown))
}

/// Returns the processing status of a file.
pub(super) fn status(asset: &Asset, now_ms: i64) -> &'static str {
    match (asset.ready_ms, &asset.flaw) {
        (None, _) => "WAITING_UPLOAD",
        (Some(ready_ms), _) if now_ms < ready_ms => "PROCESSING",
        (Some(_), Some(_)) => "PROCESSING_FAILED",
        (Some(_), None) => "AVAILABLE",
    }
}
