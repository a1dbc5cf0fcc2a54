//! Converts a post to the form that the control API and the pages show.

use serde_json::{Map, json};

use super::state::{Published, State};
use crate::env::rfc3339;
use crate::network::{Identity, Medium, Post};

/// Returns the public address of a post.
pub(super) fn permalink(base: &str, owner: &Identity, id: u64) -> String {
    format!("{base}/ui/{}/{id}", owner.remote_id)
}

/// Returns the post with its media; those of a carousel are its children's.
pub(super) fn post(state: &State, post: &Published, identity: &Identity, base: &str) -> Post {
    let content = &post.content;
    let children = content
        .children
        .iter()
        .filter_map(|id| state.made.containers.get(id)?.content.medium.clone());
    let media: Vec<Medium> = content.medium.clone().into_iter().chain(children).collect();
    let mut extra: Map<_, _> = content.extra.clone();
    extra.insert("media_type".into(), json!(content.media_type));
    extra.insert("shortcode".into(), json!(post.shortcode));
    if let Some(id) = content.reply_to {
        extra.insert("reply_to".into(), json!(id.to_string()));
    }
    if let Some(id) = content.quote {
        extra.insert("quote_post_id".into(), json!(id.to_string()));
    }
    let id = post.id.to_string();
    Post {
        text: content.text.clone(),
        media,
        created_at: rfc3339(post.at_ms),
        url: permalink(base, identity, post.id),
        extra,
        page: id.clone(),
        id,
    }
}
