//! Posts that the member makes natively on LinkedIn, as the member or as the page.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::state::{Asset, Change, Kind, Published, Received, State};
use super::{PAGE, access, little_text};
use crate::native_post::NativePost;
use crate::network::{Identity, Medium};
use crate::random::{self, BASE62};

/// Returns the changes that create a post, and its URN.
pub(super) fn post(state: &State, owner: &Identity, new: &NativePost) -> (Vec<Change>, String) {
    let author = author(owner, new);
    let assets: Vec<Asset> = new.media().map(|medium| asset(owner, &author, medium)).collect();
    let is_video = assets.first().is_some_and(|asset| asset.kind == Kind::Video);
    let number = number(state, new);
    let urn = format!("urn:li:{}:{number}", if is_video { "ugcPost" } else { "share" });
    let post = Published {
        urn: urn.clone(),
        at_ms: new.at_ms,
        commentary: little_text::escaped(&new.text),
        text: new.text.clone(),
        media: new.media().collect(),
        extra: extra(&author, &assets),
        author,
    };
    let assets = assets.into_iter().map(Change::Asset);
    (assets.chain([Change::Published { number, post }]).collect(), urn)
}

/// Returns the URN of the requested member or page.
fn author(owner: &Identity, new: &NativePost) -> String {
    match new.remote_id.as_str() {
        urn if urn.starts_with("urn:li:") => urn.to_owned(),
        name if name.starts_with(PAGE) => access::page(owner),
        _ => owner.remote_id.clone(),
    }
}

/// Returns a free number that begins with the post's time in milliseconds.
fn number(state: &State, new: &NativePost) -> u64 {
    let mut number = (new.at_ms.unsigned_abs() << 22) | (new.unique & 0x3f_ffff);
    while state.posts.contains_key(&number) {
        number += 1;
    }
    number
}

fn asset(owner: &Identity, author: &str, medium: Medium) -> Asset {
    let kind = if medium.is_video() { Kind::Video } else { Kind::Image };
    let id = format!("AQ{}{}", owner.private("sub"), random::text(BASE62, 22));
    let received = Received { etag: String::new(), medium };
    Asset {
        urn: format!("urn:li:{}:{id}", kind.as_str()),
        kind,
        owner: author.to_owned(),
        parts: vec![0],
        received: BTreeMap::from([(0, received)]),
        token: String::new(),
        thumbnail: false,
        ready_ms: Some(0),
        flaw: None,
    }
}

/// Returns the other fields of a post, including its files.
fn extra(author: &str, assets: &[Asset]) -> Map<String, Value> {
    let mut extra = Map::from_iter([
        ("author".to_owned(), json!(author)),
        ("visibility".to_owned(), json!("PUBLIC")),
        ("lifecycleState".to_owned(), json!("PUBLISHED")),
        ("isReshareDisabledByAuthor".to_owned(), json!(false)),
    ]);
    let images: Vec<_> = assets.iter().map(|asset| json!({"id": asset.urn})).collect();
    let content = match images.as_slice() {
        [] => return extra,
        [one] => json!({ "media": one }),
        _ => json!({"multiImage": {"images": images}}),
    };
    extra.insert("content".to_owned(), content);
    extra
}

/// Returns the change that deletes the post with this URN.
pub(super) fn delete(state: &State, urn: &str) -> Vec<Change> {
    let found = state.posts.iter().find(|(_, post)| post.urn == urn);
    found.map(|(number, _)| Change::Deleted { number: *number }).into_iter().collect()
}
