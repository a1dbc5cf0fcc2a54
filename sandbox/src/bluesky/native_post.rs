//! Posts that the user makes natively in the app.

use serde_json::{Value, json};

use super::blobs::reference;
use super::state::{Blob, Change, Op, State};
use super::{POST, cid, syntax};
use crate::env::rfc3339;
use crate::native_post::NativePost;
use crate::network::{Identity, Medium};

/// The most pictures of a post.
const IMAGES: usize = 4;

/// Returns the changes that create a post, and its address.
pub(super) fn post(state: &State, owner: &Identity, new: &NativePost) -> (Vec<Change>, String) {
    let is_taken = |us: u64| state.record(POST, &syntax::tid(us)).is_some();
    let rkey = syntax::tid(new.free_number(is_taken));
    let uri = format!("at://{}/{POST}/{rkey}", owner.remote_id);
    let mut value = json!({"$type": POST, "text": new.text, "createdAt": rfc3339(new.at_ms)});
    let (blobs, embed) = embed(new);
    if let Some(embed) = embed {
        value["embed"] = embed;
    }
    let cid = cid::of_record(&value).unwrap_or_default();
    let ops = vec![Op::Put { collection: POST.to_owned(), rkey, cid, value }];
    let commit = Change::Commit { rev: syntax::tid(new.unique), at_ms: new.at_ms, ops };
    (blobs.into_iter().chain([commit]).collect(), uri)
}

/// Returns the blobs of a video, or else of pictures, and the embed with them.
fn embed(new: &NativePost) -> (Vec<Change>, Option<Value>) {
    if let Some(video) = new.media().find(Medium::is_video) {
        let (change, shown) = blob(&video);
        return (vec![change], Some(json!({"$type": "app.bsky.embed.video", "video": shown})));
    }
    let (blobs, shown): (Vec<_>, Vec<_>) =
        new.media().take(IMAGES).map(|medium| blob(&medium)).unzip();
    let images: Vec<_> =
        shown.into_iter().map(|image| json!({"alt": "", "image": image})).collect();
    let embed = json!({"$type": "app.bsky.embed.images", "images": images});
    (blobs, (!new.media_urls.is_empty()).then_some(embed))
}

/// Returns a blob for a file. Its CID is made from the address, because the bytes are not fetched.
fn blob(medium: &Medium) -> (Change, Value) {
    let cid = cid::of_bytes(medium.url.as_deref().unwrap_or_default().as_bytes());
    let blob = Blob { mime: medium.mime.clone(), size: 0, ready_ms: 0 };
    let shown = reference(&cid, &blob);
    (Change::Blob { cid, blob }, shown)
}

/// Returns the change that deletes the record at an address.
pub(super) fn delete(state: &State, uri: &str) -> Vec<Change> {
    let Some(at) = syntax::AtUri::parse(uri) else { return Vec::new() };
    let op = Op::Delete { collection: at.collection.to_owned(), rkey: at.rkey.to_owned() };
    vec![Change::Commit { rev: syntax::tid_after(&state.rev), at_ms: 0, ops: vec![op] }]
}
