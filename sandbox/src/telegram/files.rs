//! The sources of a file: an upload, an address, or a file that was sent before.

use super::state::{File, Kind};
use super::{Cx, Telegram, bad};
use crate::fetch::FetchError;
use crate::params::Params;
use crate::picture;
use crate::random::{self, BASE64URL};
use crate::received_file::ReceivedFile;
use crate::reply::Reply;
use crate::sim::Account;
use crate::video_index::H264;

const MB: u64 = 1 << 20;
/// The largest sum of a photo's sides, and the largest ratio between them.
const SIDES: u32 = 10_000;
const RATIO: u32 = 20;

/// Returns the most bytes of a file, if uploaded and if fetched.
fn limits(kind: Kind) -> (u64, u64) {
    match kind {
        Kind::Photo => (10 * MB, 5 * MB),
        Kind::LivePhoto => (10 * MB, 0),
        _ => (50 * MB, 20 * MB),
    }
}

/// Returns the file of a parameter: the parameter is an upload, or its text is `attach://part`, an address or a file
/// id.
pub(super) async fn obtain(
    cx: &Cx,
    account: &Account<Telegram>,
    params: &Params,
    value: &str,
    kind: Kind,
) -> Result<File, Reply> {
    let (upload_max, fetch_max) = limits(kind);
    let text = params.filled(value).unwrap_or_else(|| value.to_owned());
    let attached = text.strip_prefix("attach://").and_then(|name| params.file(name));
    let part = params.file(value).or(attached);
    if let Some(part) = part {
        if part.bytes.is_empty() {
            return Err(bad("file must be non-empty"));
        }
        let size = part.bytes.len() as u64;
        if size > upload_max {
            let what = if kind == Kind::Photo { "photo" } else { "file" };
            let message = format!(
                "file of size {size} bytes is too big for a {what}; the maximum size is {upload_max} bytes"
            );
            return Err(bad(&message));
        }
        return file(kind, &ReceivedFile::of(&part.bytes), &part.mime, part.filename.clone(), None);
    }
    if text.starts_with("http://") || text.starts_with("https://") {
        if kind == Kind::LivePhoto {
            return Err(bad("live photos can't be sent by URL"));
        }
        return fetched(cx, &text, kind, fetch_max).await;
    }
    let known = account.read(|state| state.files.get(&text).cloned());
    match known {
        Some(file) if file.kind == kind => Ok(file),
        Some(_) => Err(bad("can't use file of this type")),
        None => Err(bad("wrong remote file identifier specified: Wrong string length")),
    }
}

async fn fetched(cx: &Cx, url: &str, kind: Kind, most: u64) -> Result<File, Reply> {
    let fetched = cx.sim.env.crawler.fetch(url, most).await.map_err(|why| match why {
        FetchError::TooLarge => bad("file is too big"),
        FetchError::NoUrl | FetchError::Failed => bad("failed to get HTTP URL content"),
    })?;
    let fits = match kind {
        Kind::Photo => fetched.mime.starts_with("image/"),
        Kind::Video => fetched.mime.starts_with("video/"),
        Kind::Animation => fetched.mime.starts_with("video/") || fetched.mime == "image/gif",
        Kind::Audio => fetched.mime.starts_with("audio/"),
        Kind::Document | Kind::LivePhoto => !fetched.mime.starts_with("text/html"),
    };
    if !fits {
        return Err(bad("wrong type of the web page content"));
    }
    let name =
        url.split(['?', '#']).next().and_then(|path| path.rsplit('/').next()).map(str::to_owned);
    file(kind, &fetched.file, &fetched.mime, name, Some(url.to_owned()))
}

fn file(
    kind: Kind,
    found: &ReceivedFile,
    said: &str,
    name: Option<String>,
    url: Option<String>,
) -> Result<File, Reply> {
    if kind == Kind::Video && found.video(H264) != Some("video/mp4") {
        return Err(bad("VIDEO_CONTENT_TYPE_INVALID"));
    }
    let picture = picture::picture(&found.head);
    // An animation is a GIF or a video.
    if kind == Kind::Animation && picture.is_none() && found.video(H264) != Some("video/mp4") {
        return Err(bad("VIDEO_CONTENT_TYPE_INVALID"));
    }
    if kind == Kind::Photo {
        let picture = picture.ok_or_else(|| bad("IMAGE_PROCESS_FAILED"))?;
        let (long, short) = (picture.width.max(picture.height), picture.width.min(picture.height));
        if picture.width + picture.height > SIDES || short == 0 || long > short * RATIO {
            return Err(bad("PHOTO_INVALID_DIMENSIONS"));
        }
    }
    let mime = picture::sniff(&found.head).unwrap_or(if said.is_empty() {
        "application/octet-stream"
    } else {
        said
    });
    Ok(File {
        id: format!("AgAC{}", random::text(BASE64URL, 60)),
        kind,
        mime: mime.to_owned(),
        size: found.size,
        sha256: found.sha256.clone(),
        name,
        url,
        width: picture.map_or(0, |picture| picture.width),
        height: picture.map_or(0, |picture| picture.height),
        duration: 0,
    })
}
