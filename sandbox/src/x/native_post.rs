//! Posts that the user makes natively in the app.

use serde_json::Map;

use super::state::{Change, State, Tweet, Upload};
use crate::native_post::NativePost;
use crate::network::Medium;
use crate::random;

/// Returns the changes that create a post, and its id.
pub(super) fn post(state: &State, new: &NativePost) -> (Vec<Change>, String) {
    let id = new.free_number(|id| state.posts.contains_key(&id));
    let uploads: Vec<Upload> = new.media().map(|medium| upload(new.at_ms, medium)).collect();
    let tweet = Tweet {
        id,
        at_ms: new.at_ms,
        text: new.text.clone(),
        media: uploads.iter().map(|upload| upload.id).collect(),
        reply_to: None,
        before: Vec::new(),
        extra: Map::new(),
    };
    let uploads = uploads.into_iter().map(Change::Upload);
    (uploads.chain([Change::Tweet(tweet)]).collect(), id.to_string())
}

/// Returns the change of an edit, which makes a new post that knows the ids of its earlier versions
/// (<https://docs.x.com/x-api/fundamentals/edit-posts>).
pub(super) fn edit(state: &State, id: &str, unique: u64, at_ms: i64) -> Vec<Change> {
    let tweet = id.parse().ok().and_then(|id: u64| state.posts.get(&id));
    let edited = tweet.map(|tweet| Tweet {
        id: unique,
        at_ms,
        text: format!("{} (edited)", tweet.text),
        before: state.versions(tweet),
        ..tweet.clone()
    });
    edited.map(Change::Tweet).into_iter().collect()
}

/// Creates an upload for a file that was not fetched.
fn upload(at_ms: i64, medium: Medium) -> Upload {
    let category = if medium.is_video() { "tweet_video" } else { "tweet_image" };
    Upload {
        id: random::number(16).unsigned_abs(),
        at_ms,
        category: category.to_owned(),
        media_type: medium.mime,
        total: 0,
        pieces: Default::default(),
        sniffed: None,
        sha256: None,
        ready_ms: Some(0),
        flaw: None,
        alt: None,
        source: medium.url,
    }
}
