//! Creating containers.

use std::sync::Arc;

use serde_json::json;

use super::state::{Change, Container, Content, Kind};
use super::{Cx, Instagram, content, id, params, user};
use crate::graph::containers::Change as Made;
use crate::graph::crawl::{self, VideoFlaw};
use crate::graph::{access, failure};
use crate::network::Medium;
use crate::received_file::ReceivedFile;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;
use crate::video_index::STREAMABLE;

const IMAGE_TYPES: [&str; 1] = ["image/jpeg"];
const IMAGE_BYTES: u64 = 8 << 20;
const VIDEO_TYPES: [&str; 2] = ["video/mp4", "video/quicktime"];
const REEL_BYTES: u64 = 300 << 20;
const STORY_BYTES: u64 = 100 << 20;
/// Containers of an account in 24 hours.
const CONTAINERS: usize = 400;
const DAY_MS: i64 = 86_400_000;

/// `POST /{user}/media`
pub(super) async fn create(cx: Arc<Cx>) -> HandlerResult {
    let account = user(&cx)?;
    let params = params(&cx)?;
    let mut content = content::content(&account, &params)?;
    let is_image = content.medium.as_ref().is_some_and(|medium| medium.mime.starts_with("image/"));
    if is_image {
        fetch_image(&cx, &mut content).await?;
    }
    let (id, now_ms) = (id(&cx), cx.now_ms());
    let waits = content.medium.is_some() && !is_image;
    let ready_ms = (!waits).then(|| now_ms + cx.sim.env.processing_ms());
    let video = content.medium.clone().and_then(|medium| medium.url).filter(|_| waits);
    let kind = content.kind;
    let resumable = waits && video.is_none();
    let limited = cx.sim.env.rate_limits();
    let container =
        Container { id, at_ms: now_ms, ready_ms, flaw: None, published: false, content };
    cx.sim.change(&account, |state| {
        let recent =
            state.made.containers.values().filter(|one| one.at_ms > now_ms - DAY_MS).count();
        if limited && recent >= CONTAINERS {
            let message = "Application request limit reached";
            return Err(failure::graph(400, 4, 2_207_085, message));
        }
        Ok((Change::Made(Made::Container(Box::new(container))), ()))
    })?;
    if let Some(url) = video {
        tokio::spawn(fetch_video(Arc::clone(&cx), Arc::clone(&account), id, kind, url));
    }
    let mut made = json!({"id": id.to_string()});
    if resumable {
        made["uri"] = json!(format!("{}/ig-api-upload/v25.0/{id}", cx.sim.base()));
    }
    Ok(Reply::ok(&made))
}

async fn fetch_image(cx: &Cx, content: &mut Content) -> Result<(), Reply> {
    let Some(medium) = &content.medium else { return Ok(()) };
    let (url, alt) = (medium.url.clone().unwrap_or_default(), medium.alt.clone());
    let (fetched, size) = crawl::picture(&cx.sim, &url, &IMAGE_TYPES, IMAGE_BYTES, alt).await?;
    // From 4:5 to 1.91:1; a story is cropped to the screen.
    let (width, height) = (u64::from(size.width), u64::from(size.height));
    let fits = width * 5 >= height * 4 && width * 100 <= height * 191;
    if content.kind == Kind::Image && !fits {
        return Err(failure::explained(
            400,
            36_003,
            2_207_009,
            "The submitted image with aspect ratio cannot be published",
            "Unsupported aspect ratio",
            "The aspect ratio must be from 4:5 to 1.91:1.",
        ));
    }
    content.medium = Some(fetched);
    Ok(())
}

/// Fetches a video in the background, and records the result.
async fn fetch_video(
    cx: Arc<Cx>,
    account: Arc<Account<Instagram>>,
    id: u64,
    kind: Kind,
    url: String,
) {
    let most = if kind == Kind::Stories { STORY_BYTES } else { REEL_BYTES };
    let fetched = crawl::video(&cx.sim, &url, &VIDEO_TYPES, (most, STREAMABLE)).await;
    arrived(&cx, &account, id, fetched);
}

fn arrived(cx: &Cx, account: &Account<Instagram>, id: u64, fetched: Result<Medium, VideoFlaw>) {
    let ready_ms = cx.now_ms() + cx.sim.env.processing_ms();
    let flaw = match &fetched {
        Ok(_) => None,
        Err(VideoFlaw::Unfetched) => Some(2_207_077),
        Err(VideoFlaw::Unsupported) => Some(2_207_026),
    };
    cx.sim.apply(account, Change::Made(Made::Fetched { id, ready_ms, medium: fetched.ok(), flaw }));
}

/// `POST /ig-api-upload/{version}/{container}`: from an address in `file_url`, or the bytes themselves.
pub(super) async fn upload(cx: Arc<Cx>) -> HandlerResult {
    let account = access::page(&cx)?;
    let named = cx.call.segment(2).to_owned();
    let waits = |id: &u64| {
        account
            .read(|state| state.made.containers.get(id).is_some_and(|one| one.ready_ms.is_none()))
    };
    let id = named.parse().ok().filter(waits).ok_or_else(|| failure::missing(&named))?;
    let fetched = if let Some(url) = cx.call.header("file_url") {
        crawl::video(&cx.sim, url, &VIDEO_TYPES, (REEL_BYTES, STREAMABLE)).await
    } else {
        let whole = cx.call.header("file_size").and_then(|size| size.parse().ok());
        if cx.call.header("offset") != Some("0") || whole != Some(cx.call.body.len()) {
            let message = "Request processing failed: offset and file_size do not match the body";
            let info = json!({"debug_info": {"retriable": false, "type": "OffsetInvalidError", "message": message}});
            return Err(Reply::json(400, &info));
        }
        sent(&cx)
    };
    arrived(&cx, &account, id, fetched);
    Ok(Reply::ok(&json!({"success": true, "message": "Upload successful."})))
}

fn sent(cx: &Cx) -> Result<Medium, VideoFlaw> {
    let file = ReceivedFile::of(&cx.call.body);
    let mime = file.video(STREAMABLE).filter(|mime| VIDEO_TYPES.contains(mime));
    let mime = mime.ok_or(VideoFlaw::Unsupported)?;
    let (size, sha256) = (Some(file.size), Some(file.sha256));
    Ok(Medium { url: None, size, mime: mime.to_owned(), alt: None, sha256 })
}
