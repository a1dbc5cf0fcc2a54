//! Articles as the API returns them, and as the control API shows them.

use serde_json::{Map, Value, json};

use super::state::Article;
use crate::env::{rfc3339, utc};
use crate::network::{Identity, Medium, Post};

fn url(article: &Article, identity: &Identity, base: &str) -> String {
    format!("{base}/{}/{}", identity.username, article.slug)
}

/// Returns the article object.
pub(super) fn article(article: &Article, identity: &Identity, base: &str) -> Value {
    let url = url(article, identity, base);
    let time = |ms: i64| utc(ms).format("%Y-%m-%dT%H:%M:%SZ").to_string();
    json!({
        "type_of": "article",
        "id": article.id,
        "title": article.title,
        "description": article.description,
        "published": article.published,
        "created_at": time(article.created_ms),
        "published_at": article.published_ms.map(time),
        "readable_publish_date": article.published_ms.map(|ms| utc(ms).format("%b %-d").to_string()),
        "edited_at": null,
        "crossposted_at": null,
        "last_comment_at": time(article.created_ms),
        "published_timestamp": article.published_ms.map(time).unwrap_or_default(),
        "slug": article.slug,
        "path": format!("/{}/{}", identity.username, article.slug),
        "url": url,
        "canonical_url": article.canonical_url.as_deref().unwrap_or(&url),
        "cover_image": article.main_image,
        "body_markdown": article.body,
        "social_image": article.main_image.as_deref().unwrap_or("https://dev.to/social.png"),
        "tag_list": article.tags,
        "tags": article.tags.join(", "),
        "ai_disclosure_level": article.ai_disclosure_level.as_deref().unwrap_or("not_disclosed"),
        "comments_count": 0,
        "public_reactions_count": 0,
        "positive_reactions_count": 0,
        "page_views_count": 0,
        "reading_time_minutes": 1,
        "user": {
            "user_id": identity.remote_id.parse::<u64>().unwrap_or_default(),
            "username": identity.username,
            "name": identity.username.replace('_', " "),
            "twitter_username": null,
            "github_username": null,
            "website_url": null,
            "profile_image": "https://dev.to/profile.png",
            "profile_image_90": "https://dev.to/profile_90.png",
        },
    })
}

/// Returns the article for the control API and the pages.
pub(super) fn post(article: &Article, identity: &Identity, base: &str) -> Post {
    let cover = article.main_image.clone();
    let media = cover.map(|url| Medium { url: Some(url), ..Medium::default() });
    let extra = [
        ("title", json!(article.title)),
        ("published", json!(article.published)),
        ("description", json!(article.description)),
        ("tags", json!(article.tags)),
        ("canonical_url", json!(article.canonical_url)),
        ("series", json!(article.series)),
        ("organization_id", json!(article.organization_id)),
        ("ai_disclosure_level", json!(article.ai_disclosure_level)),
    ];
    Post {
        id: article.id.to_string(),
        text: article.body.clone(),
        media: media.into_iter().collect(),
        created_at: rfc3339(article.created_ms),
        url: url(article, identity, base),
        extra: extra
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect::<Map<_, _>>(),
        page: article.slug.clone(),
    }
}
