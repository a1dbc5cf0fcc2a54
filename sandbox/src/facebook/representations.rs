//! Ids and addresses, and posts as the control API and the pages show them.

use serde_json::json;

use super::state::{Kind, Post, State};
use crate::env::rfc3339;
use crate::network::{Identity, Medium, Post as Shown};

/// Returns a post's id in the API.
pub(super) fn public_id(page: &Identity, id: u64) -> String {
    format!("{}_{id}", page.remote_id)
}

/// Returns the id in the response to the call that created a post.
pub(super) fn id(page: &Identity, post: &Post) -> String {
    match (post.kind, post.video) {
        (Kind::Reel | Kind::Video, Some(video)) => video.to_string(),
        (Kind::Story, _) => post.id.to_string(),
        // The call that sets a cover answers without an id: its caller knows that of the photo.
        (Kind::Cover, _) => post.photos.first().copied().unwrap_or(post.id).to_string(),
        _ => public_id(page, post.id),
    }
}

/// Returns the number in such an id, or in one without a page.
pub(super) fn number(named: &str) -> Option<u64> {
    named.rsplit('_').next()?.parse().ok()
}

/// Returns the public address of a post.
pub(super) fn permalink(base: &str, page: &Identity, id: u64) -> String {
    format!("{base}/ui/{}/{id}", page.remote_id)
}

/// Returns the post with its media.
pub(super) fn post(state: &State, post: &Post, page: &Identity, base: &str) -> Shown {
    let photos = post.photos.iter().filter_map(|id| Some(state.photos.get(id)?.medium.clone()));
    let video = post.video.and_then(|id| state.videos.get(&id));
    // A video that is still being fetched has no file.
    let film = video.map(|video| {
        let fetching = || Medium { mime: "video/*".into(), ..Medium::default() };
        video.medium().cloned().unwrap_or_else(fetching)
    });
    let mut extra = post.extra.clone();
    extra.insert("kind".into(), json!(post.kind));
    if let Some(video) = video {
        extra.insert("title".into(), json!(video.title));
        extra.insert("thumbnail".into(), json!(video.thumbnail));
    }
    let comments: Vec<_> =
        state.comments.values().filter(|one| one.post == post.id).map(|one| &one.message).collect();
    if !comments.is_empty() {
        extra.insert("comments".into(), json!(comments));
    }
    Shown {
        id: id(page, post),
        text: post.message.clone(),
        media: photos.chain(film).collect(),
        created_at: rfc3339(post.at_ms),
        url: permalink(base, page, post.id),
        extra,
        page: post.id.to_string(),
    }
}
