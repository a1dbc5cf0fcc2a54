//! Creating, listing and deleting posts, and their files, which Google fetches itself.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::state::{Change, LocalPost};
use super::{Cx, access, failure, rules};
use crate::env::rfc3339;
use crate::fetch::FetchError;
use crate::network::Medium;
use crate::page;
use crate::picture;
use crate::reply::{HandlerResult, Reply};
use crate::video_index::H264;

/// Largest files in bytes.
const PHOTO_MAX: u64 = 5 << 20;
const VIDEO_MAX: u64 = 75 << 20;
/// Least sides of a photo in a post, in pixels.
const PHOTO_MIN: (u32, u32) = (400, 300);

/// `POST /v4/{location}/localPosts`
pub(super) async fn create(cx: Arc<Cx>) -> HandlerResult {
    let (account, parent) = access::location(&cx)?;
    access::edit(&cx, &account, &parent)?;
    let resource = cx.call.json().map_err(|_| failure::invalid("", "The body is no JSON."))?;
    rules::check(&resource)?;
    let media = files(&cx, &resource["media"]).await?;
    let at_ms = cx.now_ms();
    let post = LocalPost {
        number: cx.sim.env.unique_number(),
        parent,
        at_ms,
        ready_ms: at_ms + cx.sim.env.processing_ms(),
        rejected: rules::breaks_rules(&resource),
        resource,
        media,
    };
    let shown = view(&cx, &post);
    cx.sim.apply(&account, Change::Posted(post));
    Ok(Reply::ok(&shown))
}

/// Fetches the photo or video of a post.
async fn files(cx: &Cx, media: &Value) -> Result<Vec<Medium>, Reply> {
    let refused = |message: &str| failure::invalid("media", message);
    let items = match media {
        Value::Null => return Ok(Vec::new()),
        Value::Array(items) if items.len() <= 1 => items,
        _ => return Err(refused("A post has one media item.")),
    };
    let Some(item) = items.first() else { return Ok(Vec::new()) };
    let is_video = match item["mediaFormat"].as_str() {
        Some("PHOTO") => false,
        Some("VIDEO") => true,
        _ => return Err(refused("Invalid media format.")),
    };
    let url = item["sourceUrl"].as_str().unwrap_or_default();
    let most = if is_video { VIDEO_MAX } else { PHOTO_MAX };
    let fetched = cx.sim.env.crawler.fetch(url, most).await.map_err(|why| match why {
        FetchError::TooLarge => refused("The media file is too large."),
        FetchError::NoUrl | FetchError::Failed => {
            refused("Fetching the media from its URL failed.")
        }
    })?;
    let file = fetched.file;
    let mime = if is_video { file.video(H264) } else { photo(&file.head)? };
    let mime = mime.ok_or_else(|| refused("The format of the video is not supported."))?;
    let (size, sha256) = (Some(file.size), Some(file.sha256));
    Ok(vec![Medium { url: Some(url.to_owned()), size, mime: mime.to_owned(), alt: None, sha256 }])
}

fn photo(head: &[u8]) -> Result<Option<&'static str>, Reply> {
    let found = picture::picture(head);
    let found = found.filter(|found| matches!(found.mime, "image/jpeg" | "image/png"));
    let refused = |message| failure::invalid("media", message);
    let found = found.ok_or_else(|| refused("A photo must be a JPEG or PNG."))?;
    if found.width < PHOTO_MIN.0 || found.height < PHOTO_MIN.1 {
        return Err(refused("The photo is too small: a post takes 400 by 300 pixels and more."));
    }
    Ok(Some(found.mime))
}

fn live_state(post: &LocalPost, now_ms: i64) -> &'static str {
    match (now_ms >= post.ready_ms, post.rejected) {
        (false, _) => "PROCESSING",
        (true, true) => "REJECTED",
        (true, false) if rules::scheduled_ms(&post.resource).is_some_and(|at| now_ms < at) => {
            "SCHEDULED"
        }
        (true, false) => "LIVE",
    }
}

/// Returns a post in Google's format.
fn view(cx: &Cx, post: &LocalPost) -> Value {
    let mut shown = post.resource.clone();
    shown["name"] = json!(post.name());
    shown["topicType"] = json!(post.resource["topicType"].as_str().unwrap_or("STANDARD"));
    shown["state"] = json!(live_state(post, cx.now_ms()));
    (shown["createTime"], shown["updateTime"]) =
        (json!(rfc3339(post.at_ms)), json!(rfc3339(post.at_ms)));
    shown["searchUrl"] = json!(address(&cx.sim.base(), post));
    shown
}

fn address(base: &str, post: &LocalPost) -> String {
    format!("{base}/local/{}", post.number)
}

/// `GET /v4/{location}/localPosts`: latest first.
pub(super) fn list(cx: &Cx) -> HandlerResult {
    let (account, parent) = access::location(cx)?;
    let query = |name: &str| cx.call.query_value(name);
    let size: usize = query("pageSize").and_then(|size| size.parse().ok()).unwrap_or(20);
    let before: u64 = query("pageToken").and_then(|at| at.parse().ok()).unwrap_or(u64::MAX);
    let (shown, next) = account.read(|state| {
        let of_it = |post: &&LocalPost| post.parent == parent && post.number < before;
        let found: Vec<_> = state.posts.values().rev().filter(of_it).collect();
        let page = found.iter().take(size.clamp(1, 100));
        let last = page.clone().next_back().filter(|_| found.len() > size).map(|post| post.number);
        (page.map(|post| view(cx, post)).collect::<Vec<_>>(), last)
    });
    let mut body = json!({});
    if !shown.is_empty() {
        body["localPosts"] = json!(shown);
    }
    if let Some(next) = next {
        body["nextPageToken"] = json!(next.to_string());
    }
    Ok(Reply::ok(&body))
}

/// `GET /v4/{location}/localPosts/{id}`
pub(super) fn get(cx: &Cx) -> HandlerResult {
    let (account, parent) = access::location(cx)?;
    let number: Option<u64> = cx.call.segment(6).parse().ok();
    let found = account.read(|state| state.posts.get(&number?).cloned());
    let found = found.filter(|post| post.parent == parent).ok_or_else(failure::missing)?;
    Ok(Reply::ok(&view(cx, &found)))
}

/// `DELETE /v4/{location}/localPosts/{id}`
pub(super) fn delete(cx: &Cx) -> HandlerResult {
    let (account, parent) = access::location(cx)?;
    access::edit(cx, &account, &parent)?;
    cx.sim.change(&account, |state| {
        let number: Option<u64> = cx.call.segment(6).parse().ok();
        let found = number.and_then(|number| state.posts.get(&number));
        let found = found.filter(|post| post.parent == parent).ok_or_else(failure::missing)?;
        Ok((Change::Deleted { number: found.number }, ()))
    })?;
    Ok(Reply::ok(&json!({})))
}

/// `GET /local/{id}`: the post as people see it in search.
pub(super) fn public(cx: &Cx) -> HandlerResult {
    let number: u64 = cx.call.segment(1).parse().map_err(|_| failure::missing())?;
    let found = cx.sim.all().into_iter();
    let mut found = found.filter_map(|one| {
        let post = one.read(|state| state.posts.get(&number).cloned());
        post.filter(|post| one.is_for_others(&post.name()))
    });
    let post = found.next().filter(|post| live_state(post, cx.now_ms()) == "LIVE");
    let post = post.ok_or_else(failure::missing)?;
    let title = post.resource["event"]["title"].as_str().unwrap_or("News of a location");
    let text = page::escape(post.resource["summary"].as_str().unwrap_or_default());
    let body = format!("<p>{text}</p>");
    Ok(page::page(200, title, "On simulated google_business.", &body))
}

/// Returns a post as the control API shows it.
pub(super) fn shown(post: &LocalPost, base: &str) -> crate::network::Post {
    let mut extra: Map<String, Value> = post.resource.as_object().cloned().unwrap_or_default();
    extra.remove("media");
    extra.insert("location".to_owned(), json!(post.parent));
    extra.insert("rejected".to_owned(), json!(post.rejected));
    crate::network::Post {
        id: post.name(),
        text: post.resource["summary"].as_str().unwrap_or_default().to_owned(),
        media: post.media.clone(),
        created_at: rfc3339(post.at_ms),
        url: address(base, post),
        extra,
        page: post.number.to_string(),
    }
}
