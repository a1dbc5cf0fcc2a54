//! Videos: in one call from an address, or started, uploaded and finished.

use std::sync::Arc;

use serde_json::json;

use super::content::{self, VIDEO_BYTES, VIDEO_TYPES, invalid_parameter, required};
use super::state::{Change, Kind, Post, State, Uploaded, Video};
use super::{Cx, Facebook, first, id, page, params};
use crate::faults::LaterState;
use crate::graph::crawl::{self, VideoFlaw};
use crate::graph::{access, failure};
use crate::network::Medium;
use crate::picture;
use crate::received_file::ReceivedFile;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;
use crate::video_index::{BROWSER_FORMATS, VideoProperties, VideoRequirements};

/// The formats that are accepted, and those of reels.
const FEED: VideoRequirements = BROWSER_FORMATS;
const REEL: VideoRequirements = VideoRequirements { frames: (24.0, 60.0), ..FEED };

/// `POST /{page}/videos` with `file_url`. Facebook fetches and encodes it later, which may fail, but lists it at once. An
/// upright video becomes a draft of a reel, although the call succeeds: <https://github.com/gitroomhq/postiz-app/pull/1740>.
pub(super) fn post(cx: &Cx) -> HandlerResult {
    let account = page(cx)?;
    let params = params(cx)?;
    let url = required(&params, "file_url")?;
    let description = content::message(&params, "description")?;
    let title = content::title(&params)?;
    let (video_id, at_ms) = (id(cx), cx.now_ms());
    let mut video = Video {
        id: video_id,
        at_ms,
        kind: Kind::Video,
        uploaded: None,
        finished_ms: Some(at_ms),
        seen_ms: Some(at_ms + cx.sim.env.processing_ms()),
        fails_ms: None,
        is_draft: false,
        length_ms: None,
        title,
        description: description.clone(),
        thumbnail: None,
    };
    let later = account.take_played().and_then(|fault| fault.later);
    if let Some(later) = later {
        let then_ms = at_ms + i64::from(later.after_ms);
        match later.state {
            LaterState::Published => video.seen_ms = Some(then_ms),
            LaterState::Error => video.fails_ms = Some(then_ms),
            LaterState::Draft => video.is_draft = true,
        }
    }
    let extra = content::label(&params);
    let post = Post {
        id: id(cx),
        at_ms,
        kind: Kind::Video,
        message: description,
        photos: Vec::new(),
        video: Some(video_id),
        extra,
    };
    cx.sim.apply(&account, Change::Finished { video, post });
    let (sim, owner) = (Arc::clone(&cx.sim), Arc::clone(&account));
    tokio::spawn(async move {
        let fetched = crawl::measured_video(&sim, &url, &VIDEO_TYPES, (VIDEO_BYTES, FEED)).await;
        let (fetched, found) = fetched.map_or_else(
            |flaw| (Err(flaw), VideoProperties::default()),
            |(medium, found)| (Ok(medium), found),
        );
        let is_draft = found.size.is_some_and(|(width, height)| height > width);
        let (uploaded, length_ms) = (uploaded(fetched), found.duration_ms);
        sim.apply(&owner, Change::Uploaded { id: video_id, uploaded, is_draft, length_ms });
    });
    Ok(Reply::ok(&json!({"id": video_id.to_string()})))
}

fn uploaded(fetched: Result<Medium, VideoFlaw>) -> Uploaded {
    match fetched {
        Ok(medium) => Uploaded::File(medium),
        Err(VideoFlaw::Unfetched) => {
            Uploaded::Flaw("The video file could not be downloaded.".into())
        }
        Err(VideoFlaw::Unsupported) => {
            Uploaded::Flaw("The video file is not in a supported format.".into())
        }
    }
}

/// `POST /video-upload/{version}/{video}` on the host that takes videos: from an address in `file_url`, or the bytes
/// themselves from `offset` on.
pub(super) async fn upload(cx: Arc<Cx>) -> HandlerResult {
    let account = access::page(&cx)?;
    let named = cx.call.segment(2).to_owned();
    let known = |id: &u64| account.read(|state| state.videos.contains_key(id));
    let video = named.parse().ok().filter(known).ok_or_else(|| failure::missing(&named))?;
    let is_reel =
        |state: &State| state.videos.get(&video).is_some_and(|one| one.kind == Kind::Reel);
    let asks = if account.read(is_reel) { REEL } else { FEED };
    let failed = |message: &str| {
        Reply::json(
            400,
            &json!({"debug_info": {"retriable": false, "type": "ProcessingFailedError", "message": message}}),
        )
    };
    let medium = if let Some(url) = cx.call.header("file_url") {
        crawl::video(&cx.sim, url, &VIDEO_TYPES, (VIDEO_BYTES, asks)).await
    } else {
        let whole = cx.call.header("file_size").and_then(|size| size.parse().ok());
        if cx.call.header("offset") != Some("0") || whole != Some(cx.call.body.len()) {
            return Err(failed(
                "Request processing failed: offset and file_size do not match the body",
            ));
        }
        sent(&cx, asks)
    };
    let (uploaded, is_draft, length_ms) = (uploaded(medium), false, None);
    cx.sim.apply(&account, Change::Uploaded { id: video, uploaded, is_draft, length_ms });
    match medium_of(&account, video) {
        Some(_) => Ok(Reply::ok(&json!({"success": true}))),
        None => Err(failed("The file could not be fetched or is no video")),
    }
}

fn sent(cx: &Cx, asks: VideoRequirements) -> Result<Medium, VideoFlaw> {
    let file = ReceivedFile::of(&cx.call.body);
    let mime = file.video(asks).ok_or(VideoFlaw::Unsupported)?;
    let (size, sha256) = (Some(file.size), Some(file.sha256));
    Ok(Medium { url: None, size, mime: mime.to_owned(), alt: None, sha256 })
}

fn medium_of(account: &Account<Facebook>, video: u64) -> Option<Medium> {
    account.read(|state| state.videos.get(&video)?.medium().cloned())
}

/// `POST /{video}/thumbnails`
pub(super) fn thumbnail(cx: &Cx) -> HandlerResult {
    let account = access::page(cx)?;
    let params = params(cx)?;
    let image = params
        .file("source")
        .ok_or_else(|| invalid_parameter("The parameter source is required"))?;
    let file = ReceivedFile::of(&image.bytes);
    let picture = picture::picture(&file.head);
    if !picture.is_some_and(|picture| matches!(picture.mime, "image/jpeg" | "image/png")) {
        return Err(invalid_parameter("Param source must be an image"));
    }
    let named = first(cx);
    cx.sim.change(&account, |state| {
        let video = named.parse().ok().and_then(|id: u64| state.videos.get(&id));
        let video = video.ok_or_else(|| failure::missing(&named))?.clone();
        Ok((Change::Video(Video { thumbnail: Some(file.sha256), ..video }), ()))
    })?;
    Ok(Reply::ok(&json!({"success": true})))
}
