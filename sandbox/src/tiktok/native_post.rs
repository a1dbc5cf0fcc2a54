//! Posts that the creator makes natively in the app.

use serde_json::{Map, Value, json};

use super::creator::PRIVACY;
use super::state::{Change, Post, State};
use crate::native_post::NativePost;
use crate::network::Medium;

/// Longest title of a slideshow, in characters.
const TITLE_MAX: usize = 90;

/// Returns the change that creates a post, and its id: a slideshow of pictures, else a video.
pub(super) fn post(state: &State, new: &NativePost) -> (Vec<Change>, String) {
    const FIRST: u64 = 7_400_000_000_000_000_000;
    let id = FIRST + new.free_number(|number| state.posts.contains_key(&(FIRST + number)));
    let mut media: Vec<Medium> = new.media().collect();
    if media.is_empty() {
        media.push(Medium { mime: "video/mp4".to_owned(), ..Medium::default() });
    }
    let is_photo = !media.iter().any(Medium::is_video);
    // It is already processed.
    let post =
        Post { id, at_ms: new.at_ms, ready_ms: 0, media, is_photo, info: info(new, is_photo) };
    (vec![Change::Posted(post)], id.to_string())
}

fn info(new: &NativePost, is_photo: bool) -> Map<String, Value> {
    let mut info = Map::from_iter([("privacy_level".to_owned(), json!(PRIVACY[0]))]);
    if is_photo {
        info.insert("title".to_owned(), json!(new.title(TITLE_MAX)));
    }
    let text = if is_photo { "description" } else { "title" };
    info.insert(text.to_owned(), json!(new.text));
    info
}
