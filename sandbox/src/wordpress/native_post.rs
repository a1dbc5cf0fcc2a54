//! Articles that the user writes natively on the site.

use super::state::{Article, Change, State, Upload};
use super::{rest, slug};
use crate::native_post::NativePost;
use crate::network::{Identity, Medium};

/// The longest title that is made from a text, in characters.
const TITLE_MAX: usize = 200;

/// Returns the changes that publish an article, and its id. The first file becomes its featured image.
pub(super) fn post(state: &State, owner: &Identity, new: &NativePost) -> (Vec<Change>, String) {
    let author = rest::user_id(owner);
    let first = state.last_id + 1;
    let upload = new.medium().map(|medium| upload(first, author, new.at_ms, medium));
    let (featured_media, id) = upload.as_ref().map_or((0, first), |upload| (upload.id, first + 1));
    let title = new.title(TITLE_MAX);
    let article = Article {
        id,
        author,
        status: "publish".into(),
        slug: address(state, &title, id),
        title,
        content: new.text.clone(),
        featured_media,
        categories: vec![1],
        date_ms: new.at_ms,
        modified_ms: new.at_ms,
        comment_status: "open".into(),
        format: "standard".into(),
        ..Article::default()
    };
    let upload = upload.map(|upload| Change::Upload(Box::new(upload)));
    (upload.into_iter().chain([Change::Article(Box::new(article))]).collect(), id.to_string())
}

fn address(state: &State, title: &str, id: u64) -> String {
    let wanted = slug::sanitized(title);
    slug::unique(state, if wanted.is_empty() { id.to_string() } else { wanted }, id)
}

fn upload(id: u64, author: u64, at_ms: i64, medium: Medium) -> Upload {
    let (name, caption) = (medium.file_name(), String::new());
    Upload { id, author, at_ms, title: name.clone(), name, caption, medium, size: None }
}
