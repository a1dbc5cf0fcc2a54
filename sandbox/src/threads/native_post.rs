//! Posts that the user makes natively in the app.

use serde_json::Map;

use super::state::{Change, Container, Content, MediaType};
use crate::graph::containers::{self, Container as Part};
use crate::native_post::NativePost;
use crate::network::Medium;

/// Returns the changes that create a post, and its id. Several files are a carousel.
pub(super) fn post(new: &NativePost) -> (Vec<Change>, String) {
    let parts = parts(new);
    let single = if parts.is_empty() { new.medium() } else { None };
    let mut content = Content { text: new.text.clone(), ..content(single) };
    if !parts.is_empty() {
        content.media_type = MediaType::Carousel;
        content.children = parts.iter().map(|part| part.id).collect();
    }
    containers::native_post(new, parts, content, Change::Made)
}

/// Returns the parts of a carousel; none for a post with one file.
fn parts(new: &NativePost) -> Vec<Container> {
    if new.media_urls.len() < 2 {
        return Vec::new();
    }
    new.media().map(|medium| Part::used(new.at_ms, content(Some(medium)))).collect()
}

fn content(medium: Option<Medium>) -> Content {
    let media_type = match &medium {
        None => MediaType::Text,
        Some(one) if one.is_video() => MediaType::Video,
        Some(_) => MediaType::Image,
    };
    Content {
        media_type,
        text: String::new(),
        medium,
        children: Vec::new(),
        reply_to: None,
        quote: None,
        carousel_item: false,
        extra: Map::new(),
    }
}
