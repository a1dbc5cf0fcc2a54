//! Photos, and the cover photo.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::content::{self, PHOTO_BYTES, PHOTO_TYPES, invalid_parameter, required};
use super::state::{Change, Kind, Photo, Post};
use super::{Cx, feed, id, page, params, representations};
use crate::graph::{crawl, failure};
use crate::reply::{HandlerResult, Reply};

/// `POST /{page}/photos`: from an address, public at once unless the request says otherwise.
pub(super) async fn post(cx: Arc<Cx>) -> HandlerResult {
    let account = page(&cx)?;
    let params = params(&cx)?;
    let url = required(&params, "url")?;
    let message = content::message(&params, "message")?;
    let alt = params.filled("alt_text_custom");
    let fetched = crawl::picture(&cx.sim, &url, &PHOTO_TYPES, PHOTO_BYTES, alt).await;
    let (medium, _) = fetched
        .map_err(|refused| if is_too_large(&refused) { too_large() } else { unfetched() })?;
    let (id, at_ms) = (id(&cx), cx.now_ms());
    let photo = Photo { id, at_ms, medium, used: false };
    cx.sim.apply(&account, Change::Photo(photo));
    if params.filled("published").as_deref() == Some("false") {
        return Ok(Reply::ok(&json!({"id": id.to_string()})));
    }
    let made = self::id(&cx);
    let extra = Map::new();
    let post =
        Post { id: made, at_ms, kind: Kind::Photo, message, photos: vec![id], video: None, extra };
    cx.sim.apply(&account, Change::Post(post));
    let post_id = representations::public_id(&account.identity, made);
    Ok(Reply::ok(&json!({"id": id.to_string(), "post_id": post_id})))
}

/// Returns true for the crawler's error for a file that is too large.
fn is_too_large(refused: &Reply) -> bool {
    let body: Value = serde_json::from_slice(&refused.body).unwrap_or_default();
    body["error"]["error_subcode"] == 2_207_004
}

fn too_large() -> Reply {
    let explanation =
        "Photos should be smaller than 4 MB and saved as JPG, PNG, GIF, TIFF, HEIF or WebP files.";
    failure::explained(
        400,
        324,
        1_366_046,
        "Missing or invalid image file",
        "Can't Read Files",
        explanation,
    )
}

fn unfetched() -> Reply {
    failure::explained(
        400,
        324,
        2_069_019,
        "Missing or invalid image file",
        "Invalid Image File",
        "The image could not be fetched, or its format is not supported.",
    )
}

/// `POST /{page}` with `cover`: sets the cover photo.
pub(super) fn cover(cx: &Cx) -> HandlerResult {
    let account = page(cx)?;
    let params = params(cx)?;
    // Some clients send the id alone, some an object with it.
    let cover = match params.json("cover") {
        Some(Ok(Value::Object(cover))) => cover.get("photo_id").cloned().unwrap_or_default(),
        Some(Ok(value)) => value,
        _ => Value::Null,
    };
    let photo = cover.as_str().and_then(|id| id.parse().ok()).or_else(|| cover.as_u64());
    let photo: u64 =
        photo.ok_or_else(|| invalid_parameter("Param cover must be the id of a photo"))?;
    let offset = params.integer("offset_y").unwrap_or(0);
    if !(0..=100).contains(&offset) {
        return Err(invalid_parameter("Param offset_y must be from 0 to 100"));
    }
    let extra = Map::from_iter([
        ("offset_y".to_owned(), json!(offset)),
        ("no_feed_story".to_owned(), json!(params.flag("no_feed_story"))),
    ]);
    let (id, at_ms) = (id(cx), cx.now_ms());
    cx.sim.change(&account, |state| {
        feed::usable(state, &[photo])?;
        let (kind, message, video) = (Kind::Cover, String::new(), None);
        let post = Post { id, at_ms, kind, message, photos: vec![photo], video, extra };
        Ok((Change::Covered { photo, post }, ()))
    })?;
    Ok(Reply::ok(&json!({"success": true})))
}
