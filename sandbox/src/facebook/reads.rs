//! Lists, and nodes by their id.

use serde_json::{Value, json};

use super::state::{Change, Kind, Post, State, Uploaded, Video};
use super::{Cx, Facebook, first, insights, page, representations};
use crate::graph::{self, access, failure, fields, lists};
use crate::metrics::MetricSubject;
use crate::network::Identity;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// Optional fields of a post.
const POST_FIELDS: [&str; 6] =
    ["message", "full_picture", "attachments", "story", "reactions", "shares"];
/// Optional fields of a video, which has neither reactions nor shares.
const VIDEO_FIELDS: [&str; 6] = ["description", "title", "likes", "comments", "post_id", "length"];
/// Optional fields of a photo, which has neither reactions nor shares.
const PHOTO_FIELDS: [&str; 4] = ["name", "likes", "comments", "page_story_id"];

/// `GET /{page}/published_posts`: newest first; stories are not among them.
pub(super) fn posts(cx: &Cx) -> HandlerResult {
    let account = page(cx)?;
    account.read(|state| {
        let is_listed = |post: &&Post| post.kind != Kind::Story && state.is_for_people(post);
        let seen = state.posts.values().rev().filter(is_listed);
        let show = |post: &Post| {
            let whole = view(cx, state, &account.identity, post);
            fields::pick(&cx.call, &whole, &POST_FIELDS, "Post")
        };
        lists::page(cx, lists::USUAL, seen, |post| post.id, show)
    })
}

fn view(cx: &Cx, state: &State, owner: &Identity, post: &Post) -> Value {
    let mut view = json!({
        "id": representations::public_id(owner, post.id),
        "created_time": graph::time(post.at_ms),
        "permalink_url": representations::permalink(&cx.sim.base(), owner, post.id),
        "is_published": true,
        "from": {"id": owner.remote_id, "name": owner.username},
        "comments": {"data": comments(state, owner, post)},
    });
    if !post.message.is_empty() {
        view["message"] = json!(post.message);
    }
    if let Some(attached) = attached(post) {
        view["attachments"] = json!({"data": [attached]});
    }
    view
}

/// Returns what is attached to a post: a file, an album of files, or a link
/// (<https://developers.facebook.com/docs/graph-api/reference/post/attachments>).
fn attached(post: &Post) -> Option<Value> {
    let file = |kind: &str, id: u64| json!({"media_type": kind, "target": {"id": id.to_string()}});
    match (post.photos.as_slice(), post.video) {
        (_, Some(video)) => Some(file("video", video)),
        ([], None) => post.extra.contains_key("link").then(|| json!({"media_type": "link"})),
        ([photo], None) => Some(file("photo", *photo)),
        (photos, None) => {
            let below: Vec<_> = photos.iter().map(|photo| file("photo", *photo)).collect();
            Some(json!({"media_type": "album", "subattachments": {"data": below}}))
        }
    }
}

/// Returns the page's own comments below a post, each by its id.
fn comments(state: &State, owner: &Identity, post: &Post) -> Vec<Value> {
    let below = state.comments.values().filter(|one| one.post == post.id);
    let id = |one: &super::state::Comment| {
        format!("{}_{}", representations::public_id(owner, post.id), one.id)
    };
    below.map(|one| json!({"id": id(one), "message": one.message})).collect()
}

/// `GET /{page}/videos`: those of the feed and reels, from the moment they were uploaded.
pub(super) fn videos(cx: &Cx) -> HandlerResult {
    let account = page(cx)?;
    account.read(|state| {
        let seen = state.videos.values().rev();
        let seen = seen.filter(|video| video.kind != Kind::Story && video.finished_ms.is_some());
        let show = |video: &Video| {
            let whole = video_view(cx, state, &account.identity, video);
            fields::pick(&cx.call, &whole, &VIDEO_FIELDS, "Video")
        };
        lists::page(cx, lists::USUAL, seen, |video| video.id, show)
    })
}

/// `GET /{page}/stories`: those of the last 24 hours.
pub(super) fn stories(cx: &Cx) -> HandlerResult {
    let account = page(cx)?;
    let since_ms = cx.now_ms() - 86_400_000;
    let stories: Vec<Value> = account.read(|state| {
        let seen = state.posts.values().rev();
        let seen = seen.filter(|post| post.kind == Kind::Story && post.at_ms > since_ms);
        let shown = |post: &Post| {
            let kind = if post.video.is_some() { "video" } else { "photo" };
            json!({"post_id": post.id.to_string(), "status": "PUBLISHED", "creation_time": (post.at_ms / 1_000).to_string(), "media_type": kind})
        };
        seen.map(shown).collect()
    });
    Ok(Reply::ok(&json!({"data": stories})))
}

/// Returns the page's own comments directly below a post.
pub(super) fn own_comments(cx: &Cx, account: &Account<Facebook>, named: &str) -> Vec<Value> {
    let (owner, base) = (&account.identity, cx.sim.base());
    account.read(|state| {
        let post = representations::number(named).filter(|id| state.posts.contains_key(id));
        let below = state.comments.values().filter(|comment| Some(comment.post) == post);
        let view = |one: &super::state::Comment| {
            let id = format!("{named}_{}", one.id);
            json!({
                "permalink_url": format!("{base}/ui/{}?comment={id}", owner.remote_id),
                "id": id, "message": one.message, "created_time": graph::time(one.at_ms),
                "from": {"id": owner.remote_id, "name": owner.username},
                "is_hidden": false, "like_count": 0, "comment_count": 0,
            })
        };
        below.map(view).collect()
    })
}

/// `GET /{id}`: the page, a post, a video or a photo.
pub(super) fn node(cx: &Cx) -> HandlerResult {
    let account = access::page(cx)?;
    let named = first(cx);
    if named == account.identity.remote_id {
        return whole_page(cx, &account);
    }
    let missing = || failure::missing(&named);
    let number = representations::number(&named).ok_or_else(missing)?;
    let owner = &account.identity;
    account.read(|state| {
        if let Some(post) = state.posts.get(&number) {
            let mut view = view(cx, state, owner, post);
            insights::summarize(&account, &named, &insights::POST_COUNTS, &mut view)?;
            return fields::pick(&cx.call, &view, &POST_FIELDS, "Post");
        }
        if let Some(video) = state.videos.get(&number) {
            let mut view = video_view(cx, state, owner, video);
            insights::summarize(&account, &named, &insights::MEDIA_COUNTS, &mut view)?;
            return fields::pick(&cx.call, &view, &VIDEO_FIELDS, "Video");
        }
        let photo = state.photos.get(&number).ok_or_else(missing)?;
        let holder = state.posts.values().find(|post| post.photos.contains(&photo.id));
        let link = representations::permalink(&cx.sim.base(), owner, holder.map_or(photo.id, |post| post.id));
        let mut view = json!({"id": photo.id.to_string(), "link": link, "created_time": graph::time(photo.at_ms), "alt_text_custom": photo.medium.alt});
        if let Some(post) = holder {
            view["page_story_id"] = json!(representations::public_id(owner, post.id));
        }
        insights::summarize(&account, &named, &insights::MEDIA_COUNTS, &mut view)?;
        fields::pick(&cx.call, &view, &PHOTO_FIELDS, "Photo")
    })
    .map(|picked| Reply::ok(&picked))
}

fn whole_page(cx: &Cx, account: &Account<Facebook>) -> HandlerResult {
    let mut page = graph::page(account, &cx.sim.picture(&account.identity.remote_id));
    if let Some(cover) = account.read(|state| state.cover) {
        page["cover"] = json!({"id": cover.to_string(), "cover_id": cover.to_string()});
    }
    for (name, number) in [("followers_count", "followers"), ("fan_count", "fan_count")] {
        if let Some(count) = account.metric_number(MetricSubject::Now, number) {
            page[name] = json!(count);
        }
    }
    let known = ["cover", "followers_count", "fan_count"];
    Ok(Reply::ok(&fields::pick(&cx.call, &page, &known, "Page")?))
}

fn video_view(cx: &Cx, state: &State, owner: &Identity, video: &Video) -> Value {
    let post = state.posts.values().find(|post| post.video == Some(video.id));
    let late_ms = cx.account.as_ref().map_or(0, |one| i64::from(one.behaviour().ids.late_ms));
    let mut view = json!({
        "id": video.id.to_string(),
        "created_time": graph::time(video.finished_ms.unwrap_or(video.at_ms)),
        "status": status(cx, video),
        "permalink_url": representations::permalink(&cx.sim.base(), owner, post.map_or(video.id, |post| post.id)),
    });
    let is_told = |post: &&Post| post.at_ms + late_ms <= cx.now_ms();
    if let Some(post) = post.filter(is_told) {
        view["post_id"] = json!(representations::public_id(owner, post.id));
    }
    if let Some(length_ms) = video.length_ms {
        view["length"] = json!(std::time::Duration::from_millis(length_ms).as_secs_f64());
    }
    for (name, text) in [("description", &video.description), ("title", &video.title)] {
        if !text.is_empty() {
            view[name] = json!(text);
        }
    }
    view
}

/// Returns the status of a video, by its phases.
fn status(cx: &Cx, video: &Video) -> Value {
    let now_ms = cx.now_ms();
    let flaw = match &video.uploaded {
        Some(Uploaded::Flaw(flaw)) => Some(flaw.as_str()),
        Some(Uploaded::File(_)) | None => None,
    };
    let broken = video.fails_ms.filter(|fails_ms| now_ms >= *fails_ms);
    if let Some(flaw) = flaw.or(broken.map(|_| "The video could not be encoded.")) {
        let error = json!({"status": "error", "error": {"message": flaw}});
        return json!({"video_status": "error", "uploading_phase": {"status": "complete"}, "processing_phase": error, "publishing_phase": {"status": "not_started"}});
    }
    let uploaded = video.uploaded.is_some();
    let is_failing = video.fails_ms.is_some();
    let is_seen = video.seen_ms.is_some_and(|seen_ms| now_ms >= seen_ms) && !is_failing;
    let (whole, processing, publishing) = match (uploaded, video.finished_ms.is_some(), is_seen) {
        (false, ..) => ("uploading", "not_started", "not_started"),
        (true, false, _) => ("upload_complete", "not_started", "not_started"),
        (true, true, false) => ("processing", "in_progress", "in_progress"),
        (true, true, true) if video.is_draft => ("ready", "complete", "not_started"),
        (true, true, true) => ("ready", "complete", "complete"),
    };
    let is_published = is_seen && !video.is_draft;
    let uploading = if uploaded { "complete" } else { "in_progress" };
    json!({
        "video_status": whole,
        "uploading_phase": {"status": uploading},
        "processing_phase": {"status": processing},
        "publishing_phase": {"status": publishing, "publish_status": if is_published { "published" } else { "draft" }},
    })
}

/// `DELETE /{post}`
pub(super) fn delete(cx: &Cx) -> HandlerResult {
    let account = access::page(cx)?;
    let named = first(cx);
    if account.read(|state| state.mail.get(&named).is_some()) {
        return graph::inbox::delete(cx);
    }
    cx.sim.change(&account, |state| {
        let id = representations::number(&named).filter(|id| state.posts.contains_key(id));
        let id = id.ok_or_else(|| failure::missing(&named))?;
        Ok((Change::Deleted { id }, ()))
    })?;
    Ok(Reply::ok(&json!({"success": true})))
}
