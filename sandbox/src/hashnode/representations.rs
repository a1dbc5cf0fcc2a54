//! Users, publications and articles as the API answers them, and articles as the control API shows them.

use serde_json::{Value, json};

use super::state::Article;
use crate::env::rfc3339;
use crate::network::{Identity, Medium, Post};

fn url(article: &Article, identity: &Identity, base: &str) -> String {
    format!("{base}/{}/{}", identity.username, article.slug)
}

/// Returns the `Publication` object.
pub(super) fn publication(identity: &Identity, base: &str) -> Value {
    json!({
        "id": identity.private("publication_id"),
        "title": format!("{}'s blog", identity.username),
        "url": format!("{base}/ui/{}", identity.remote_id),
    })
}

/// Returns the `MyUser` object.
pub(super) fn user(identity: &Identity, base: &str) -> Value {
    let publications =
        json!({"edges": [{"node": publication(identity, base)}], "totalDocuments": 1});
    json!({
        "id": identity.remote_id,
        "username": identity.username,
        "name": identity.username,
        "profilePicture": format!("{base}/ui/{}/picture.png", identity.remote_id),
        "publications": publications,
    })
}

/// Returns the `Post` object.
pub(super) fn article(article: &Article, identity: &Identity, base: &str) -> Value {
    let tags: Vec<_> =
        article.tags.iter().map(|(slug, name)| json!({"slug": slug, "name": name})).collect();
    json!({
        "id": article.id,
        "slug": article.slug,
        "title": article.title,
        "subtitle": article.subtitle,
        "url": url(article, identity, base),
        "tags": tags,
        "publishedAt": rfc3339(article.published_ms),
    })
}

/// Returns the article for the control API and the pages.
pub(super) fn post(article: &Article, identity: &Identity, base: &str) -> Post {
    let cover = article.cover_image.clone();
    let extra = json!({
        "title": article.title,
        "subtitle": article.subtitle,
        "slug": article.slug,
        "tags": article.tags.iter().map(|(_, name)| name).collect::<Vec<_>>(),
        "original_url": article.original_url,
        "meta_title": article.meta_title,
        "meta_description": article.meta_description,
        "disable_comments": article.disable_comments,
    });
    Post {
        id: article.id.clone(),
        text: article.markdown.clone(),
        media: cover
            .map(|url| Medium { url: Some(url), ..Medium::default() })
            .into_iter()
            .collect(),
        created_at: rfc3339(article.published_ms),
        url: url(article, identity, base),
        extra: extra.as_object().cloned().unwrap_or_default(),
        page: article.slug.clone(),
    }
}
