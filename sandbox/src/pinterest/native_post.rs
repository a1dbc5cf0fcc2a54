//! Pins that the user makes natively in the app.

use serde_json::{Map, json};

use super::boards::BOARDS;
use super::state::{Change, Pin};
use crate::native_post::NativePost;
use crate::network::Medium;

/// Longest title, in characters.
const TITLE_MAX: usize = 100;

/// Returns the change that creates a pin on the public board, and its id.
pub(super) fn post(new: &NativePost) -> (Vec<Change>, String) {
    let mut media: Vec<Medium> = new.media().collect();
    if media.is_empty() {
        // Every pin has a picture.
        media.push(Medium { mime: "image/jpeg".to_owned(), ..Medium::default() });
    }
    let source = match media.as_slice() {
        [first, ..] if first.is_video() => "video_id",
        [_, _, ..] => "multiple_image_urls",
        _ => "image_url",
    };
    let fields = Map::from_iter([
        ("board_id".to_owned(), json!(BOARDS[0].0)),
        ("title".to_owned(), json!(new.title(TITLE_MAX))),
        ("description".to_owned(), json!(new.text)),
        ("source_type".to_owned(), json!(source)),
    ]);
    let id = 800_000_000_000_000_000 + new.unique;
    (vec![Change::Pin(Pin { id, at_ms: new.at_ms, media, fields })], id.to_string())
}
