//! Reels and stories: starting, uploading and finishing.

use serde_json::{Map, json};

use super::content::{self, invalid_parameter, required};
use super::state::{Change, Kind, Post, State, Video};
use super::{Cx, feed, id, page, params};
use crate::graph::{self, failure};
use crate::params::Params;
use crate::reply::{HandlerResult, Reply};

/// Reels of a page in 24 hours.
const REELS: usize = 30;
const DAY_MS: i64 = 86_400_000;

/// `POST /{page}/video_reels` and `POST /{page}/video_stories`
pub(super) fn phase(cx: &Cx) -> HandlerResult {
    let params = params(cx)?;
    let is_reel = cx.call.path.ends_with("video_reels");
    let kind = if is_reel { Kind::Reel } else { Kind::Story };
    match required(&params, "upload_phase")?.as_str() {
        "start" => start(cx, kind),
        "finish" => finish(cx, &params, kind),
        _ => Err(invalid_parameter("Param upload_phase must be one of {START, FINISH}")),
    }
}

fn start(cx: &Cx, kind: Kind) -> HandlerResult {
    let account = page(cx)?;
    let (id, at_ms) = (id(cx), cx.now_ms());
    let video = Video {
        id,
        at_ms,
        kind,
        uploaded: None,
        finished_ms: None,
        seen_ms: None,
        fails_ms: None,
        is_draft: false,
        length_ms: None,
        title: String::new(),
        description: String::new(),
        thumbnail: None,
    };
    cx.sim.apply(&account, Change::Video(video));
    let upload_url = format!("{}/video-upload/v25.0/{id}", cx.sim.base());
    Ok(Reply::ok(&json!({"video_id": id.to_string(), "upload_url": upload_url})))
}

fn finish(cx: &Cx, params: &Params, kind: Kind) -> HandlerResult {
    let account = page(cx)?;
    let named = required(params, "video_id")?;
    let description = content::message(params, "description")?;
    let title = content::title(params)?;
    if kind == Kind::Reel && params.filled("video_state").as_deref() != Some("PUBLISHED") {
        return Err(invalid_parameter("Param video_state must be PUBLISHED"));
    }
    let (id, now_ms, limited) = (id(cx), cx.now_ms(), cx.sim.env.rate_limits());
    cx.sim.change(&account, |state| {
        let video = named.parse().ok().and_then(|id: u64| state.videos.get(&id));
        let video =
            video.filter(|video| video.kind == kind).ok_or_else(|| failure::missing(&named))?;
        if video.medium().is_none() {
            return Err(invalid_parameter("The video upload is not complete yet"));
        }
        if video.finished_ms.is_some() {
            return Err(invalid_parameter("The video was already published"));
        }
        if limited && kind == Kind::Reel && reels(state, now_ms) >= REELS {
            let message = "(#613) Calls to this api have exceeded the rate limit.";
            return Err(graph::throttled(613, message, &account.identity.remote_id, 3_600_000));
        }
        let video = Video {
            finished_ms: Some(now_ms),
            seen_ms: Some(now_ms + cx.sim.env.processing_ms()),
            title,
            description: description.clone(),
            ..video.clone()
        };
        let (photos, extra) = (Vec::new(), content::label(params));
        let post = Post {
            id,
            at_ms: now_ms,
            kind,
            message: description,
            photos,
            video: Some(video.id),
            extra,
        };
        Ok((Change::Finished { video, post }, ()))
    })?;
    let mut done = json!({"success": true});
    if kind == Kind::Story {
        done["post_id"] = json!(id.to_string());
    }
    Ok(graph::with_usage(Reply::ok(&done), 3))
}

fn reels(state: &State, now_ms: i64) -> usize {
    let recent = state.posts.values().rev().take_while(|post| post.at_ms > now_ms - DAY_MS);
    recent.filter(|post| post.kind == Kind::Reel).count()
}

/// `POST /{page}/photo_stories`
pub(super) fn photo(cx: &Cx) -> HandlerResult {
    let account = page(cx)?;
    let params = params(cx)?;
    let photo = required(&params, "photo_id")?;
    let photo: u64 =
        photo.parse().map_err(|_| invalid_parameter("Param photo_id must be a valid ID"))?;
    let (id, at_ms) = (id(cx), cx.now_ms());
    cx.sim.change(&account, |state| {
        feed::usable(state, &[photo])?;
        let (message, extra) = (String::new(), Map::new());
        let post =
            Post { id, at_ms, kind: Kind::Story, message, photos: vec![photo], video: None, extra };
        Ok((Change::Post(post), ()))
    })?;
    Ok(Reply::ok(&json!({"success": true, "post_id": id.to_string()})))
}
