//! Articles that the user writes on the site.

use super::HEX;
use super::publish::address;
use super::state::{Article, Change, State};
use crate::native_post::NativePost;
use crate::random;

/// Longest title, in characters.
const TITLE_MAX: usize = 250;

/// Returns the change that publishes an article, and its id.
pub(super) fn post(state: &State, new: &NativePost) -> (Vec<Change>, String) {
    let (id, title) = (random::text(HEX, 24), new.title(TITLE_MAX));
    let cover = new.media().find(|medium| !medium.is_video());
    let article = Article {
        id: id.clone(),
        slug: address(state, None, &title),
        title,
        markdown: new.text.clone(),
        cover_image: cover.and_then(|medium| medium.url),
        published_ms: new.at_ms,
        ..Article::default()
    };
    (vec![Change::Published(Box::new(article))], id)
}
