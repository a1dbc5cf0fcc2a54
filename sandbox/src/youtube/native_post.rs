//! Videos that a user uploads natively on YouTube.

use serde_json::json;

use super::state::{Change, Video};
use crate::native_post::NativePost;
use crate::network::Medium;
use crate::random::{self, BASE62};

/// Longest title, in characters.
const TITLE_MAX: usize = 100;

/// Returns the change that creates a public video, and its id. Its title is the first line of the text.
pub(super) fn post(new: &NativePost) -> (Vec<Change>, String) {
    let id = random::text(BASE62, 11);
    let film = || Medium { mime: "video/mp4".to_owned(), ..Medium::default() };
    let video = Video {
        number: new.unique,
        id: id.clone(),
        at_ms: new.at_ms,
        // Nothing is left to be processed.
        ready_ms: 0,
        resource: json!({
            "snippet": {"title": new.title(TITLE_MAX), "description": new.text, "categoryId": "22"},
            "status": {"privacyStatus": "public"},
        }),
        media: new.media().find(Medium::is_video).unwrap_or_else(film),
        thumbnail: None,
        flaw: None,
    };
    (vec![Change::Posted(video)], id)
}
