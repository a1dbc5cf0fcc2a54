//! Posts that a user makes for a location natively on Google.

use serde_json::{Value, json};

use super::locations::{LOCATIONS, location};
use super::state::{Change, LocalPost, State};
use crate::native_post::NativePost;
use crate::network::{Identity, Medium};

/// Returns the change that creates a post, and its name. It is for the requested location, else for the first one.
pub(super) fn post(owner: &Identity, new: &NativePost) -> (Vec<Change>, String) {
    let is_asked = |which: &str| new.remote_id.split('/').any(|part| part == owner.private(which));
    let asked = LOCATIONS.iter().map(|(which, ..)| *which).find(|which| is_asked(which));
    let media: Vec<Medium> = new.medium().into_iter().collect();
    let post = LocalPost {
        number: new.unique,
        parent: location(owner, asked.unwrap_or(LOCATIONS[0].0)),
        at_ms: new.at_ms,
        // Google has already reviewed it.
        ready_ms: 0,
        rejected: false,
        resource: resource(new, &media),
        media,
    };
    let name = post.name();
    (vec![Change::Posted(post)], name)
}

fn resource(new: &NativePost, media: &[Medium]) -> Value {
    let mut resource = json!({"languageCode": "en", "summary": new.text, "topicType": "STANDARD"});
    let item = |medium: &Medium| {
        let format = if medium.is_video() { "VIDEO" } else { "PHOTO" };
        json!({"mediaFormat": format, "sourceUrl": medium.url})
    };
    if !media.is_empty() {
        resource["media"] = media.iter().map(item).collect();
    }
    resource
}

/// Returns the change that deletes the post of this name.
pub(super) fn delete(state: &State, name: &str) -> Vec<Change> {
    let post = state.posts.values().find(|post| post.name() == name);
    post.map(|post| Change::Deleted { number: post.number }).into_iter().collect()
}
