//! Media: uploading, processing, describing.

use super::instance::{
    DESCRIPTION_MAX, FRAME_RATE_MAX, IMAGE_BYTES_MAX, IMAGE_PIXELS_MAX, TYPES, VIDEO_BYTES_MAX,
};
use super::state::{Change, Upload};
use super::{Cx, access, representations};
use crate::multipart::Part;
use crate::network::Medium;
use crate::params::Params;
use crate::picture;
use crate::rate_limit::Limit;
use crate::received_file::ReceivedFile;
use crate::reply::{HandlerResult, Reply};
use crate::video_index::{BROWSER_FORMATS, VideoRequirements};

/// The video formats that are accepted.
const FILMS: VideoRequirements =
    VideoRequirements { frames: (0.0, FRAME_RATE_MAX), ..BROWSER_FORMATS };
/// Uploads of an account.
const UPLOADS: Limit = Limit { name: "media", units: 30, span_ms: 1_800_000 };

/// `POST /media`: 200 if it is ready at once, 202 if it is still processed.
pub(super) fn create(cx: &Cx) -> HandlerResult {
    access::limited(cx, UPLOADS, |account| {
        let params = Params::read(&cx.call).map_err(|_| access::failure(400, "Bad request"))?;
        let file = params.file("file").ok_or_else(|| access::invalid("File can't be blank"))?;
        let upload = received(cx, file, &params)?;
        let is_ready = upload.ready_ms <= cx.now_ms();
        let shown = representations::medium(&upload, &cx.sim.base(), cx.now_ms());
        cx.sim.apply(account, Change::Upload(Box::new(upload)));
        Ok(Reply::json(if is_ready { 200 } else { 202 }, &shown))
    })
}

fn received(cx: &Cx, file: &Part, params: &Params) -> Result<Upload, Reply> {
    let found = ReceivedFile::of(&file.bytes);
    let mime = picture::sniff(&found.head).filter(|mime| TYPES.contains(mime));
    let refused = || access::invalid("File content type is not supported, File is invalid");
    let mime = mime.ok_or_else(refused)?;
    let is_still = mime.starts_with("image/") && mime != "image/gif";
    let most = if is_still { IMAGE_BYTES_MAX } else { VIDEO_BYTES_MAX };
    if found.size > most {
        let why = format!("File file size must be less than {} MB", most >> 20);
        return Err(access::invalid(&why));
    }
    if mime.starts_with("video/") && found.video(FILMS).is_none() {
        return Err(refused());
    }
    let size = picture::picture(&found.head).map(|picture| (picture.width, picture.height));
    if size.is_some_and(|(width, height)| u64::from(width) * u64::from(height) > IMAGE_PIXELS_MAX) {
        return Err(access::invalid("File images are too large"));
    }
    let wait = if is_still { 0 } else { cx.sim.env.processing_ms() };
    let medium = Medium {
        url: None,
        size: Some(found.size),
        mime: mime.to_owned(),
        alt: described(params)?,
        sha256: Some(found.sha256),
    };
    Ok(Upload {
        id: cx.sim.env.unique_number(),
        ready_ms: cx.now_ms() + wait,
        medium,
        size,
        focus: params.filled("focus"),
        attached: false,
    })
}

fn described(params: &Params) -> Result<Option<String>, Reply> {
    let text = params.filled("description");
    if text.as_ref().is_some_and(|text| text.chars().count() > DESCRIPTION_MAX) {
        let why = format!("Description is too long (maximum is {DESCRIPTION_MAX} characters)");
        return Err(access::invalid(&why));
    }
    Ok(text)
}

/// Returns a file that belongs to no status yet; an attached one cannot be found any more.
fn loose(cx: &Cx) -> Result<(u64, Upload), Reply> {
    let account = access::account(cx)?;
    let id: Option<u64> = cx.call.segment(3).parse().ok();
    let now_ms = cx.now_ms();
    let found =
        account.read(|state| state.media.get(&id?).filter(|one| one.is_loose(now_ms)).cloned());
    found.map(|one| (one.id, one)).ok_or_else(|| access::failure(404, "Record not found"))
}

/// `GET /media/{id}`: 206 while it is processed.
pub(super) fn get(cx: &Cx) -> HandlerResult {
    access::limited(cx, access::CALLS, |_| {
        let (_, upload) = loose(cx)?;
        let now_ms = cx.now_ms();
        let status = if upload.ready_ms <= now_ms { 200 } else { 206 };
        Ok(Reply::json(status, &representations::medium(&upload, &cx.sim.base(), now_ms)))
    })
}

/// `PUT /media/{id}`
pub(super) fn update(cx: &Cx) -> HandlerResult {
    access::limited(cx, access::CALLS, |account| {
        let params = Params::read(&cx.call).map_err(|_| access::failure(400, "Bad request"))?;
        let (_, mut upload) = loose(cx)?;
        upload.medium.alt = described(&params)?.or(upload.medium.alt);
        upload.focus = params.filled("focus").or(upload.focus);
        let shown = representations::medium(&upload, &cx.sim.base(), cx.now_ms());
        cx.sim.apply(account, Change::Upload(Box::new(upload)));
        Ok(Reply::ok(&shown))
    })
}
