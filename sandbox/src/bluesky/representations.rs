//! Converts an account's posts to the form that the control API and the pages show.

use serde_json::{Map, Value, json};

use super::POST;
use super::state::{Record, State};
use crate::env::rfc3339;
use crate::network::{Identity, Medium, Post};

/// Returns all posts, oldest first.
pub(super) fn posts(state: &State, identity: &Identity, base: &str) -> Vec<Post> {
    let mut posts: Vec<_> = state.collection(POST).collect();
    posts.sort_by_key(|(_, record)| record.nth);
    posts.into_iter().map(|(rkey, record)| post(state, identity, base, rkey, record)).collect()
}

fn post(state: &State, identity: &Identity, base: &str, rkey: &str, record: &Record) -> Post {
    let uri = format!("at://{}/{POST}/{rkey}", identity.remote_id);
    let mut extra = Map::new();
    for name in ["facets", "reply", "langs", "labels", "tags", "embed"] {
        if let Some(value) = record.value.get(name) {
            extra.insert(name.to_owned(), value.clone());
        }
    }
    if let Some(parent) = record.value["reply"]["parent"]["uri"].as_str() {
        extra.insert("reply_to".to_owned(), json!(parent));
    }
    for (name, collection) in
        [("postgate", "app.bsky.feed.postgate"), ("threadgate", "app.bsky.feed.threadgate")]
    {
        // A gate counts only under its post's own key.
        if let Some(gate) = state.record(collection, rkey).filter(|gate| gate.value["post"] == uri)
        {
            extra.insert(name.to_owned(), gate.value.clone());
        }
    }
    extra.insert("captions".to_owned(), captions(&record.value["embed"]));
    extra.insert("cid".to_owned(), json!(record.cid));
    extra.insert("rkey".to_owned(), json!(rkey));
    extra.insert("record".to_owned(), record.value.clone());
    Post {
        text: record.value["text"].as_str().unwrap_or_default().to_owned(),
        media: media(&record.value["embed"]),
        created_at: rfc3339(record.at_ms),
        url: format!("{base}/profile/{}/post/{rkey}", identity.username),
        extra,
        page: rkey.to_owned(),
        id: uri,
    }
}

/// Returns the captions of a video, as languages and sizes.
fn captions(embed: &Value) -> Value {
    let captions = files(embed)["captions"].as_array().into_iter().flatten();
    captions.map(|one| json!({"lang": one["lang"], "bytes": one["file"]["size"]})).collect()
}

/// Returns the embed with the files, which may stand beside a quote.
fn files(embed: &Value) -> &Value {
    if embed["media"].is_object() { &embed["media"] } else { embed }
}

fn media(embed: &Value) -> Vec<Medium> {
    let embed = files(embed);
    let items = embed["images"].as_array().or_else(|| embed["items"].as_array());
    let images = items.into_iter().flatten().map(|item| medium(&item["image"], &item["alt"]));
    let video = embed["video"].is_object().then(|| medium(&embed["video"], &embed["alt"]));
    images.chain(video).collect()
}

fn medium(blob: &Value, alt: &Value) -> Medium {
    Medium {
        size: blob["size"].as_u64(),
        mime: blob["mimeType"].as_str().unwrap_or_default().to_owned(),
        alt: alt.as_str().map(str::to_owned),
        ..Medium::default()
    }
}
