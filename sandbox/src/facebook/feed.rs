//! Texts, links and photos in the feed, and comments.

use serde_json::{Map, Value, json};
use url::Url;

use super::content::{self, COLOURED, duplicate, invalid_parameter};
use super::state::{Change, Comment, Kind, Post, State};
use super::{Cx, first, id, page, params, representations};
use crate::graph::{access, failure, with_usage};
use crate::params::Params;
use crate::reply::{HandlerResult, Reply};

/// The time for which the same text is refused, in milliseconds.
const DUPLICATE_WINDOW_MS: i64 = 60_000;
/// The number of digits of background ids; retired backgrounds have shorter ones.
const PRESET_DIGITS: std::ops::RangeInclusive<usize> = 12..=20;

/// `POST /{page}/feed`
pub(super) fn post(cx: &Cx) -> HandlerResult {
    let account = page(cx)?;
    let params = params(cx)?;
    let message = content::message(&params, "message")?;
    let photos = attached(&params)?;
    let extra = extra(&params, &message, photos.is_empty())?;
    if message.trim().is_empty() && photos.is_empty() && !extra.contains_key("link") {
        let explanation = "The post is empty. Please enter a message to share.";
        return Err(failure::explained(
            400,
            100,
            1_349_125,
            "Invalid parameter",
            "Missing Message Or Attachment",
            explanation,
        ));
    }
    let (id, now_ms) = (id(cx), cx.now_ms());
    let post = Post { id, at_ms: now_ms, kind: Kind::Feed, message, photos, video: None, extra };
    let whole = cx.sim.change(&account, |state| {
        usable(state, &post.photos)?;
        if is_duplicate(state, &post) {
            return Err(duplicate(0));
        }
        let whole = json!({
            "id": representations::public_id(&account.identity, post.id),
            "permalink_url": representations::permalink(&cx.sim.base(), &account.identity, post.id),
        });
        Ok((Change::Post(post), whole))
    })?;
    let picked = crate::graph::fields::pick(&cx.call, &whole, &[], "Post")?;
    Ok(with_usage(Reply::ok(&picked), 3))
}

/// Returns the ids in `attached_media=[{"media_fbid": …}]`.
fn attached(params: &Params) -> Result<Vec<u64>, Reply> {
    let Some(list) = params.json("attached_media") else { return Ok(Vec::new()) };
    let unreadable = || invalid_parameter("Param attached_media must be an array");
    let list = list.ok().and_then(|list| list.as_array().cloned()).ok_or_else(unreadable)?;
    let id = |entry: &Value| {
        let id = &entry["media_fbid"];
        id.as_str().and_then(|id| id.parse().ok()).or_else(|| id.as_u64())
    };
    list.iter().map(|entry| id(entry).ok_or_else(unreadable)).collect()
}

/// Checks that the photos are the page's own and in no other post.
pub(super) fn usable(state: &State, photos: &[u64]) -> Result<(), Reply> {
    for id in photos {
        match state.photos.get(id) {
            None => {
                return Err(invalid_parameter(&format!(
                    "Invalid parameter: no photo with the id {id}"
                )));
            }
            Some(photo) if photo.used => {
                let explanation = "It looks like you've already posted these photos.";
                return Err(failure::explained(
                    400,
                    100,
                    1_366_051,
                    "Invalid parameter",
                    "Already Posted",
                    explanation,
                ));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn is_duplicate(state: &State, post: &Post) -> bool {
    state.posts.values().next_back().is_some_and(|last| {
        last.kind == Kind::Feed
            && post.photos.is_empty()
            && (&last.message, &last.extra) == (&post.message, &post.extra)
            && post.at_ms < last.at_ms + DUPLICATE_WINDOW_MS
    })
}

fn extra(
    params: &Params,
    message: &str,
    without_photos: bool,
) -> Result<Map<String, Value>, Reply> {
    let mut extra = Map::new();
    if let Some(link) = params.filled("link") {
        if !Url::parse(&link).is_ok_and(|url| matches!(url.scheme(), "http" | "https")) {
            return Err(failure::graph(400, 1_500, 2_061_006, "The url you supplied is invalid"));
        }
        extra.insert("link".into(), json!(link));
    }
    if let Some(preset) = params.filled("text_format_preset_id") {
        if !preset.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(invalid_parameter("Param text_format_preset_id must be a valid ID"));
        }
        if !PRESET_DIGITS.contains(&preset.len()) {
            // Facebook's error for a retired background.
            return Err(failure::graph(500, 1, 99, "An unknown error occurred"));
        }
        let fits = without_photos && extra.is_empty() && message.chars().count() <= COLOURED;
        if !fits {
            return Err(invalid_parameter(
                "Param text_format_preset_id is for short texts without attachments",
            ));
        }
        extra.insert("text_format_preset_id".into(), json!(preset));
    }
    Ok(extra)
}

/// `POST /{post}/comments`
pub(super) fn comment(cx: &Cx) -> HandlerResult {
    let account = access::page(cx)?;
    let params = params(cx)?;
    let message = content::message(&params, "message")?;
    if message.trim().is_empty() && params.filled("attachment_url").is_none() {
        return Err(invalid_parameter("The parameter message is required"));
    }
    let named = first(cx);
    let comment = id(cx);
    let post = representations::number(&named);
    cx.sim.change(&account, |state| {
        let post = post.filter(|id| state.posts.contains_key(id));
        let post = post.ok_or_else(|| failure::missing(&named))?;
        Ok((Change::Comment(Comment { id: comment, at_ms: cx.now_ms(), post, message }), ()))
    })?;
    Ok(Reply::ok(&json!({"id": format!("{named}_{comment}")})))
}
