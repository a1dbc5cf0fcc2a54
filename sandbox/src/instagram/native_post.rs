//! Posts that the account makes natively in the app.

use serde_json::Map;

use super::state::{Change, Container, Content, Kind};
use crate::graph::containers::{self, Container as Part};
use crate::native_post::NativePost;
use crate::network::Medium;

/// Returns the changes that create a post, and its id. Several files are a carousel.
pub(super) fn post(new: &NativePost) -> (Vec<Change>, String) {
    let parts = parts(new);
    let single = if parts.is_empty() { new.medium() } else { None };
    let mut content = content(single);
    content.caption.clone_from(&new.text);
    content.children = parts.iter().map(|part| part.id).collect();
    content.kind = kind(new, content.kind);
    containers::native_post(new, parts, content, Change::Made)
}

/// Returns the requested kind, else the usual one for its files.
fn kind(new: &NativePost, usual: Kind) -> Kind {
    match new.post_type.as_str() {
        "story" => Kind::Stories,
        "carousel" => Kind::Carousel,
        "reel" => Kind::Reels,
        _ if new.media_urls.len() > 1 => Kind::Carousel,
        _ => usual,
    }
}

/// Returns the parts of a carousel; none for a story or a post with one file.
fn parts(new: &NativePost) -> Vec<Container> {
    if new.media_urls.len() < 2 || ["story", "reel"].contains(&new.post_type.as_str()) {
        return Vec::new();
    }
    new.media().map(|medium| Part::used(new.at_ms, content(Some(medium)))).collect()
}

fn content(medium: Option<Medium>) -> Content {
    let is_video = medium.as_ref().is_some_and(Medium::is_video);
    Content {
        kind: if is_video { Kind::Reels } else { Kind::Image },
        caption: String::new(),
        medium,
        children: Vec::new(),
        carousel_item: false,
        extra: Map::new(),
    }
}
