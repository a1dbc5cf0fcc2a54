//! People and posts as the API answers them, and posts as the control API shows them.

use serde_json::{Value, json};

use super::state::{LemmyPost, State};
use super::{HOST, community};
use crate::env::{rfc3339, utc};
use crate::network::{Identity, Medium, Post};

/// Returns the `Person` object.
pub(super) fn person(identity: &Identity) -> Value {
    json!({
        "id": identity.remote_id.parse::<u64>().unwrap_or_default(),
        "name": identity.username,
        "display_name": null,
        "actor_id": format!("https://{HOST}/u/{}", identity.username),
        "local": true,
        "banned": false,
        "deleted": false,
        "bot_account": false,
        "published": time(identity.created_ms),
        "instance_id": 1,
    })
}

/// Formats a time as Lemmy does.
fn time(ms: i64) -> String {
    utc(ms).format("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

/// Returns the `PostView` object.
pub(super) fn view(post: &LemmyPost, identity: &Identity) -> Value {
    let mut shown = json!({
        "id": post.id,
        "name": post.name,
        "creator_id": identity.remote_id.parse::<u64>().unwrap_or_default(),
        "community_id": post.community_id,
        "nsfw": post.nsfw,
        "language_id": post.language_id,
        "published": time(post.published_ms),
        "ap_id": format!("https://{HOST}/post/{}", post.id),
        "local": true,
        "deleted": post.deleted,
        "removed": false,
        "locked": false,
        "featured_community": false,
        "featured_local": false,
    });
    let optional = [
        ("body", &post.body),
        ("url", &post.url),
        ("alt_text", &post.alt_text),
        ("thumbnail_url", &post.custom_thumbnail),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            shown[name] = json!(value);
        }
    }
    let community =
        community::by_id(post.community_id).map(|found| found.view()["community"].clone());
    json!({
        "post": shown,
        "creator": person(identity),
        "community": community,
        "counts": {
            "post_id": post.id,
            "comments": 0,
            "score": 1,
            "upvotes": 1,
            "downvotes": 0,
            "published": time(post.published_ms),
            "newest_comment_time": time(post.published_ms),
        },
        "creator_banned_from_community": false,
        "banned_from_community": false,
        "creator_is_moderator": false,
        "creator_is_admin": false,
        "creator_blocked": false,
        "subscribed": "NotSubscribed",
        "saved": false,
        "read": false,
        "hidden": false,
        "unread_comments": 0,
    })
}

/// Returns the post for the control API and the pages.
pub(super) fn post(state: &State, post: &LemmyPost, base: &str) -> Post {
    let body = post.body.as_deref().unwrap_or_default();
    let shown = [post.url.as_deref(), post.custom_thumbnail.as_deref(), Some(body)];
    let is_shown = |url: &str| shown.iter().flatten().any(|place| place.contains(url));
    let images = state.images.values().filter(|image| image.url.as_deref().is_some_and(is_shown));
    let extra = json!({
        "title": post.name,
        "link": post.url,
        "community": community::by_id(post.community_id).map(community::Community::full_name),
        "nsfw": post.nsfw,
        "language_id": post.language_id,
        "alt_text": post.alt_text,
        "custom_thumbnail": post.custom_thumbnail,
    });
    Post {
        id: post.id.to_string(),
        text: body.to_owned(),
        media: images.map(|image| Medium { alt: post.alt_text.clone(), ..image.clone() }).collect(),
        created_at: rfc3339(post.published_ms),
        url: format!("{base}/post/{}", post.id),
        extra: extra.as_object().cloned().unwrap_or_default(),
        page: post.id.to_string(),
    }
}
