//! Converts a post to the form that the control API and the pages show.

use serde_json::json;

use super::state::{State, Tweet};
use crate::env::rfc3339;
use crate::network::{Identity, Medium, Post};

/// Returns the public address of a post.
pub(super) fn permalink(base: &str, owner: &Identity, id: u64) -> String {
    format!("{base}/{}/status/{id}", owner.username)
}

/// Returns the post with its media.
pub(super) fn post(state: &State, tweet: &Tweet, owner: &Identity, base: &str) -> Post {
    let files = tweet.media.iter().filter_map(|id| state.media.get(id));
    let media: Vec<Medium> = files.map(|upload| upload.medium()).collect();
    let mut extra = tweet.extra.clone();
    if let Some(id) = tweet.reply_to {
        extra.insert("reply_to".into(), json!(id.to_string()));
    }
    let id = tweet.id.to_string();
    Post {
        text: tweet.text.clone(),
        media,
        created_at: rfc3339(tweet.at_ms),
        url: permalink(base, owner, tweet.id),
        extra,
        page: id.clone(),
        id,
    }
}
