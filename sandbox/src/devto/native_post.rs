//! Articles that the user writes on the site.

use super::article::{TITLE_MAX, slug};
use super::state::{Article, Change};
use crate::native_post::NativePost;

/// Returns the change that publishes an article, and its id.
pub(super) fn post(new: &NativePost) -> (Vec<Change>, String) {
    let title = new.title(TITLE_MAX);
    let cover = new.media().find(|medium| !medium.is_video());
    let article = Article {
        id: new.unique,
        slug: slug(&title),
        title,
        body: new.text.clone(),
        published: true,
        main_image: cover.and_then(|medium| medium.url),
        created_ms: new.at_ms,
        published_ms: Some(new.at_ms),
        ..Article::default()
    };
    (vec![Change::Article(Box::new(article))], new.unique.to_string())
}
