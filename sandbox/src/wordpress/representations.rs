//! Articles as the API returns them, and as the control API shows them.

use serde_json::{Map, Value, json};

use super::state::{Article, State};
use crate::env::{rfc3339, utc};
use crate::network::Post;
use crate::page::escape;

/// Formats a time as WordPress does: without a zone, which the field's name implies.
pub(super) fn date(ms: i64) -> String {
    utc(ms).format("%Y-%m-%dT%H:%M:%S").to_string()
}

/// Returns a text as `{"rendered": …}`, with `raw` for editors.
pub(super) fn text(raw: &str, rendered: String, edit: bool) -> Value {
    let mut text = json!({"rendered": rendered});
    if edit {
        text["raw"] = json!(raw);
    }
    text
}

/// Wraps text without markup in paragraphs.
fn paragraphs(raw: &str) -> String {
    if raw.is_empty() || raw.contains("<p") || raw.contains("<!--") {
        return raw.to_owned();
    }
    let paragraphs = raw.split("\n\n").map(str::trim).filter(|p| !p.is_empty());
    paragraphs.map(|p| format!("<p>{}</p>\n", p.replace('\n', "<br />\n"))).collect()
}

fn link(article: &Article, base: &str) -> String {
    format!("{base}/ui/{}/{}", article.author, article.id)
}

/// Returns the post object; `edit` adds what only editors see.
pub(super) fn article(state: &State, article: &Article, base: &str, edit: bool) -> Value {
    let guid = format!("{base}/?p={}", article.id);
    let mut content = text(&article.content, paragraphs(&article.content), edit);
    content["protected"] = json!(false);
    let mut excerpt = text(&article.excerpt, paragraphs(&article.excerpt), edit);
    excerpt["protected"] = json!(false);
    let mut shown = json!({
        "id": article.id,
        "date": date(article.date_ms),
        "date_gmt": date(article.date_ms),
        "guid": text(&guid, guid.clone(), edit),
        "modified": date(article.modified_ms),
        "modified_gmt": date(article.modified_ms),
        "slug": article.slug,
        "status": article.status,
        "type": "post",
        "link": link(article, base),
        "title": text(&article.title, escape(&article.title), edit),
        "content": content,
        "excerpt": excerpt,
        "author": article.author,
        "featured_media": article.featured_media,
        "comment_status": article.comment_status,
        "ping_status": "open",
        "sticky": article.sticky,
        "template": "",
        "format": article.format,
        "meta": {"footnotes": ""},
        "categories": article.categories,
        "tags": article.tags,
    });
    if edit {
        shown["permalink_template"] = json!(format!("{base}/ui/{}/%postname%", article.author));
        shown["generated_slug"] =
            json!(super::slug::unique(state, super::slug::sanitized(&article.title), article.id));
        shown["password"] = json!("");
    }
    shown
}

/// Returns the article for the control API and the pages.
pub(super) fn post(state: &State, article: &Article, base: &str) -> Post {
    let names = |ids: &[u64]| {
        ids.iter()
            .filter_map(|id| state.terms.get(id))
            .map(|term| term.name.clone())
            .collect::<Vec<_>>()
    };
    let featured = state.media.get(&article.featured_media);
    let mut extra = Map::new();
    for (name, value) in [
        ("title", json!(article.title)),
        ("excerpt", json!(article.excerpt)),
        ("slug", json!(article.slug)),
        ("status", json!(article.status)),
        ("categories", json!(names(&article.categories))),
        ("tags", json!(names(&article.tags))),
        ("featured_media", json!(article.featured_media)),
        ("modified_at", json!(rfc3339(article.modified_ms))),
    ] {
        extra.insert(name.to_owned(), value);
    }
    Post {
        id: article.id.to_string(),
        text: article.content.clone(),
        media: featured.map(|upload| upload.medium.clone()).into_iter().collect(),
        created_at: rfc3339(article.date_ms),
        url: link(article, base),
        extra,
        page: article.id.to_string(),
    }
}
