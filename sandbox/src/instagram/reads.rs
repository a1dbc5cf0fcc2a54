//! Lists, and nodes by their id.

use serde_json::{Value, json};

use super::container::status_text;
use super::content::invalid_parameter;
use super::state::{Kind, Published, State};
use super::{Cx, Instagram, first, inbox, representations, user};
use crate::graph::{self, access, failure, fields, lists};
use crate::metrics::MetricSubject;
use crate::network::Identity;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// The time for which a story is visible, in milliseconds.
const STORY_MS: i64 = 86_400_000;

/// Optional fields of a post.
const FIELDS: [&str; 6] =
    ["caption", "media_url", "thumbnail_url", "children", "alt_text", "is_shared_to_feed"];

/// `GET /{user}/media`: newest first; stories are not among them.
pub(super) fn media(cx: &Cx) -> HandlerResult {
    let account = user(cx)?;
    list(cx, &account, |post| post.content.kind != Kind::Stories)
}

/// `GET /{user}/stories`: those that are still visible.
pub(super) fn stories(cx: &Cx) -> HandlerResult {
    let account = user(cx)?;
    let since_ms = cx.now_ms() - STORY_MS;
    list(cx, &account, |post| post.content.kind == Kind::Stories && post.at_ms > since_ms)
}

fn list(
    cx: &Cx,
    account: &Account<Instagram>,
    is_listed: impl Fn(&Published) -> bool,
) -> HandlerResult {
    account.read(|state| {
        let listed = state.made.posts.values().rev().filter(|post| is_listed(post));
        let show = |post: &Published| {
            let whole = view(cx, state, &account.identity, post);
            fields::pick(&cx.call, &whole, &FIELDS, "IGMedia")
        };
        lists::page(cx, lists::USUAL, listed, |post| post.id, show)
    })
}

/// `GET /{id}`: the account, a container or a post.
pub(super) fn node(cx: &Cx) -> HandlerResult {
    let account = access::page(cx)?;
    let (named, identity) = (first(cx), &account.identity);
    if named == identity.remote_id {
        let count = account.read(|state| state.made.posts.len());
        let mut whole = json!({
            "id": identity.remote_id,
            "username": identity.username,
            "name": identity.username.replace(['.', '_'], " "),
            "profile_picture_url": cx.sim.picture(&identity.remote_id),
            "follows_count": 0,
            "media_count": count,
        });
        if let Some(followers) = account.metric_number(MetricSubject::Now, "followers") {
            whole["followers_count"] = json!(followers);
        }
        let known = ["followers_count"];
        return Ok(Reply::ok(&fields::pick(&cx.call, &whole, &known, "IGUser")?));
    }
    if let Some(item) = account.read(|state| state.mail.get(&named).cloned()) {
        let view = inbox::view(&item);
        return Ok(Reply::ok(&fields::pick(&cx.call, &view, &inbox::OPTIONAL, "IGComment")?));
    }
    let missing = || failure::missing(&named);
    let number: u64 = named.parse().map_err(|_| missing())?;
    let now_ms = cx.now_ms();
    let picked = account.read(|state| {
        if let Some(container) = state.made.containers.get(&number) {
            let status = state.made.status(container, now_ms);
            let view =
                json!({"id": named, "status_code": status.code(), "status": status_text(&status)});
            return fields::pick(&cx.call, &view, &[], "IGContainer");
        }
        let post = state.made.posts.get(&number).ok_or_else(missing)?;
        fields::pick(&cx.call, &view(cx, state, identity, post), &FIELDS, "IGMedia")
    })?;
    Ok(Reply::ok(&picked))
}

/// `GET /{media}/poll_attachment` and `GET /{media}/prompt_response`: null without one.
pub(super) fn addon(cx: &Cx) -> HandlerResult {
    let account = access::page(cx)?;
    let named = first(cx);
    let missing = || failure::missing(&named);
    let number: u64 = named.parse().map_err(|_| missing())?;
    let found = account.read(|state| {
        let post = state.made.posts.get(&number)?;
        (post.content.kind != Kind::Stories).then(|| post.content.extra.clone())
    });
    let extra = found.ok_or_else(missing)?;
    let is = |name: &str| extra.get("attached_addon") == Some(&json!(name));
    let shown = if cx.call.path.ends_with("poll_attachment") {
        extra.get("poll_attachment").filter(|_| is("poll")).cloned().unwrap_or_default()
    } else if is("comment_prompt") {
        json!({"data": []})
    } else {
        Value::Null
    };
    Ok(Reply::ok(&shown))
}

fn view(cx: &Cx, state: &State, owner: &Identity, post: &Published) -> Value {
    let content = &post.content;
    let is_video = content.medium.as_ref().is_some_and(|one| one.mime.starts_with("video/"));
    let (kind, product) = match content.kind {
        Kind::Carousel => ("CAROUSEL_ALBUM", "FEED"),
        Kind::Reels => ("VIDEO", "REELS"),
        Kind::Stories => (if is_video { "VIDEO" } else { "IMAGE" }, "STORY"),
        Kind::Image | Kind::Video => ("IMAGE", "FEED"),
    };
    let comments = state.comments.values().filter(|comment| comment.media == post.id).count();
    let mut view = json!({
        "id": post.id.to_string(),
        "media_type": kind,
        "media_product_type": product,
        "permalink": representations::permalink(&cx.sim.base(), owner, post.id),
        "shortcode": post.shortcode,
        "timestamp": graph::time(post.at_ms),
        "username": owner.username,
        "comments_count": comments,
        "like_count": 0,
    });
    if !content.caption.is_empty() && content.kind != Kind::Stories {
        view["caption"] = json!(content.caption);
    }
    if let Some(medium) = &content.medium {
        view["media_url"] = json!(medium.url);
        view["alt_text"] = json!(medium.alt);
    }
    if content.kind == Kind::Carousel {
        let of_video = |id: &u64| {
            let item = state.made.containers.get(id)?.content.medium.as_ref()?;
            Some(item.mime.starts_with("video/"))
        };
        let child = |id: &u64| {
            let kind = if of_video(id) == Some(true) { "VIDEO" } else { "IMAGE" };
            json!({"id": id.to_string(), "media_type": kind})
        };
        let children: Vec<_> = content.children.iter().map(child).collect();
        view["children"] = json!({ "data": children });
    }
    view
}

/// `GET /ig_audio`: licensed sounds.
pub(super) fn audio(cx: &Cx) -> HandlerResult {
    access::page(cx)?;
    let kind = cx.call.query_value("audio_type").unwrap_or_default();
    if !["music", "original_sound"].contains(&kind.as_str()) {
        return Err(invalid_parameter("Param audio_type must be one of {music, original_sound}"));
    }
    let song = json!({"audio_id": "1", "title": "Simulated song", "display_artist": "Nobody", "duration_in_ms": 30_000});
    Ok(Reply::ok(&json!({"audio": [song]})))
}
