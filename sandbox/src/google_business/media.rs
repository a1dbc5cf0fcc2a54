//! Photos and videos of a location, which Google fetches itself.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::state::Change;
use super::{Cx, access, failure};
use crate::env::rfc3339;
use crate::picture;
use crate::reply::{HandlerResult, Reply};
use crate::video_index::H264;

/// Largest files in bytes, and the least side of a photo in pixels.
const PHOTO_MAX: u64 = 25 << 20;
const PHOTO_MIN: u64 = 10 << 10;
const VIDEO_MAX: u64 = 75 << 20;
const SIDE_MIN: u32 = 250;
/// The longest video in milliseconds, and the fewest lines it may have.
const VIDEO_MS: u64 = 30_000;
const LINES_MIN: u32 = 720;

/// A photo or video.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Medium {
    pub key: String,
    pub parent: String,
    pub at_ms: i64,
    /// When it appears in lists.
    pub ready_ms: i64,
    pub video: bool,
    pub category: String,
    pub source_url: String,
    pub width: u32,
    pub height: u32,
}

impl Medium {
    fn name(&self) -> String {
        format!("{}/media/{}", self.parent, self.key)
    }
}

fn view(cx: &Cx, one: &Medium) -> Value {
    let at_ms = if one.key == "profile" { 0 } else { one.at_ms };
    json!({
        "name": one.name(), "mediaFormat": if one.video { "VIDEO" } else { "PHOTO" },
        "locationAssociation": {"category": one.category},
        "googleUrl": format!("{}/media/{}", cx.sim.base(), one.key),
        "thumbnailUrl": format!("{}/media/{}?small", cx.sim.base(), one.key),
        "sourceUrl": one.source_url, "createTime": rfc3339(at_ms),
        "dimensions": {"widthPixels": one.width, "heightPixels": one.height},
        "insights": {"viewCount": "0"},
    })
}

/// `POST /v4/{location}/media`
pub(super) async fn create(cx: Arc<Cx>) -> HandlerResult {
    let (account, parent) = access::location(&cx)?;
    access::edit(&cx, &account, &parent)?;
    let body = cx.call.json().map_err(|_| failure::invalid("", "The body is no JSON."))?;
    let video = match body["mediaFormat"].as_str() {
        Some("PHOTO") => false,
        Some("VIDEO") => true,
        _ => return Err(failure::invalid("media_format", "Invalid media format.")),
    };
    let category = body["locationAssociation"]["category"].as_str().unwrap_or_default();
    // LOGO is an older name of PROFILE.
    let category = if category == "LOGO" { "PROFILE" } else { category };
    if category.is_empty() {
        return Err(failure::invalid("category", "The category is required."));
    }
    let source_url = body["sourceUrl"].as_str().unwrap_or_default().to_owned();
    let (width, height) = fetch(&cx, &source_url, video).await?;
    let unique = cx.sim.env.unique_number();
    let key = if category == "PROFILE" { "profile".to_owned() } else { format!("AF1Qip{unique}") };
    let at_ms = cx.now_ms();
    let category = category.to_owned();
    let made = cx.sim.change(&account, |state| {
        let ready_ms = if video { at_ms + state.decisions.video_ms } else { at_ms };
        let parent = parent.clone();
        let made =
            Medium { key, parent, at_ms, ready_ms, video, category, source_url, width, height };
        Ok((Change::Medium(made.clone()), made))
    })?;
    Ok(Reply::ok(&view(&cx, &made)))
}

async fn fetch(cx: &Cx, url: &str, video: bool) -> Result<(u32, u32), Reply> {
    let refused = |message: &str| failure::invalid("source_url", message);
    let most = if video { VIDEO_MAX } else { PHOTO_MAX };
    let fetched = cx.sim.env.crawler.fetch(url, most).await;
    let file = fetched.map_err(|_| refused("Fetching the media from its URL failed."))?.file;
    if video {
        file.video(H264).ok_or_else(|| refused("The format is not supported."))?;
        let film = file.video.unwrap_or_default();
        // Nothing is known of a file without an index.
        let (width, height) = film.size.unwrap_or((1_280, LINES_MIN));
        if film.duration_ms.is_some_and(|length| length > VIDEO_MS) {
            return Err(refused("The video is too long."));
        }
        if width.min(height) < LINES_MIN {
            return Err(refused("The resolution of the video is too low."));
        }
        return Ok((width, height));
    }
    let found = picture::picture(&file.head);
    let found = found.filter(|found| matches!(found.mime, "image/jpeg" | "image/png"));
    let found = found.ok_or_else(|| refused("A photo must be a JPEG or PNG."))?;
    if file.size < PHOTO_MIN || found.width < SIDE_MIN || found.height < SIDE_MIN {
        return Err(refused("The photo is too small."));
    }
    Ok((found.width, found.height))
}

/// `GET /v4/{location}/media`; a video is listed once it was reviewed.
pub(super) fn list(cx: &Cx) -> HandlerResult {
    let (account, parent) = access::location(cx)?;
    let now_ms = cx.now_ms();
    let mut all = account.read(|state| {
        let seen = state.media.values();
        let seen = seen.filter(|one| one.parent == parent && now_ms >= one.ready_ms);
        seen.cloned().collect::<Vec<_>>()
    });
    all.sort_by_key(|one| std::cmp::Reverse(one.at_ms));
    let shown: Vec<_> = all.iter().map(|one| view(cx, one)).collect();
    Ok(Reply::ok(&json!({"mediaItems": shown, "totalMediaItemCount": all.len()})))
}

/// `GET /v4/{location}/media/{key}`
pub(super) fn get(cx: &Cx) -> HandlerResult {
    let (account, parent) = access::location(cx)?;
    let name = format!("{parent}/media/{}", cx.call.segment(6));
    let found = account.read(|state| state.media.get(&name).cloned());
    Ok(Reply::ok(&view(cx, &found.ok_or_else(failure::missing)?)))
}

/// `DELETE /v4/{location}/media/{key}`
pub(super) fn delete(cx: &Cx) -> HandlerResult {
    let (account, parent) = access::location(cx)?;
    access::edit(cx, &account, &parent)?;
    let name = format!("{parent}/media/{}", cx.call.segment(6));
    cx.sim.change(&account, |state| {
        if !state.media.contains_key(&name) {
            return Err(failure::missing());
        }
        Ok((Change::MediumGone { name: name.clone() }, ()))
    })?;
    Ok(Reply::ok(&json!({})))
}

impl Medium {
    /// Returns the name under which the state stores it.
    pub fn kept_as(&self) -> String {
        self.name()
    }
}
