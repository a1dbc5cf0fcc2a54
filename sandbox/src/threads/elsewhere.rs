//! Posts that the user makes in the app.

use serde_json::Map;

use super::state::{Change, Container, Content, MediaType, Published};
use crate::elsewhere::Elsewhere;
use crate::graph::containers::{Change as Made, Container as Part};
use crate::network::Medium;
use crate::random::{self, BASE64URL};

/// Returns the changes that make a post, and its id. Several files are a carousel.
pub(super) fn post(new: &Elsewhere) -> (Vec<Change>, String) {
    let parts = parts(new);
    let single = if parts.is_empty() { new.medium() } else { None };
    let mut content = Content { text: new.text.clone(), ..content(single) };
    if !parts.is_empty() {
        content.media_type = MediaType::Carousel;
        content.children = parts.iter().map(|part| part.id).collect();
    }
    let id = 17_000_000_000_000_000 + new.unique;
    let shortcode = random::text(BASE64URL, 11);
    let post = Published { id, at_ms: new.at_ms, shortcode, content };
    let parts = parts.into_iter().map(|part| Change::Made(Made::Container(Box::new(part))));
    let post = Change::Made(Made::Elsewhere(Box::new(post)));
    (parts.chain([post]).collect(), id.to_string())
}

/// The parts of a carousel; none of a post with one file.
fn parts(new: &Elsewhere) -> Vec<Container> {
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
