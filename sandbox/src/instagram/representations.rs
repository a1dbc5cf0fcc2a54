//! Converts a post to the form that the control API and the pages show.

use serde_json::json;

use super::state::{Published, State};
use crate::env::rfc3339;
use crate::network::{Identity, Medium, Post};

/// Returns the public address of a post.
pub(super) fn permalink(base: &str, owner: &Identity, id: u64) -> String {
    format!("{base}/ui/{}/{id}", owner.remote_id)
}

/// Returns the post with its media; those of a carousel are its children's.
pub(super) fn post(state: &State, post: &Published, owner: &Identity, base: &str) -> Post {
    let content = &post.content;
    let children = content
        .children
        .iter()
        .filter_map(|id| state.made.containers.get(id)?.content.medium.clone());
    let media: Vec<Medium> = content.medium.clone().into_iter().chain(children).collect();
    let mut extra = content.extra.clone();
    extra.insert("media_type".into(), json!(content.kind));
    extra.insert("shortcode".into(), json!(post.shortcode));
    let comments: Vec<_> =
        state.comments.values().filter(|one| one.media == post.id).map(|one| &one.text).collect();
    if !comments.is_empty() {
        extra.insert("comments".into(), json!(comments));
    }
    let id = post.id.to_string();
    Post {
        text: content.caption.clone(),
        media,
        created_at: rfc3339(post.at_ms),
        url: permalink(base, owner, post.id),
        extra,
        page: id.clone(),
        id,
    }
}
