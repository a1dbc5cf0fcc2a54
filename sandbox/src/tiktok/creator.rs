//! Creators: their profiles, permissions and posts.

use serde_json::{Map, Value, json};

use super::state::Post;
use super::{Cx, access, failure};
use crate::metrics::{self, MetricSubject};
use crate::rate_limit::Limit;
use crate::reply::HandlerResult;

/// The audiences that a creator with a public account may choose.
pub(super) const PRIVACY: [&str; 3] = ["PUBLIC_TO_EVERYONE", "MUTUAL_FOLLOW_FRIENDS", "SELF_ONLY"];

/// The scopes of the fields of a user.
const BASIC: &str = "user.info.basic";
const PROFILE: &str = "user.info.profile";
const STATS: &str = "user.info.stats";

/// `GET /v2/user/info/?fields=…`
pub(super) fn info(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scope(cx, "user.info.basic")?;
    let identity = &account.identity;
    let fields = cx.call.query_value("fields").unwrap_or_default();
    let count = |name: &str| json!(account.metric_number(MetricSubject::Now, name).unwrap_or(0));
    let mut user = Map::new();
    for field in fields.split(',') {
        let (scope, value) = match field {
            "open_id" => (BASIC, json!(identity.remote_id)),
            "union_id" => (BASIC, json!(format!("{}-u", identity.remote_id))),
            "display_name" => (BASIC, json!(identity.username.replace(['.', '_'], " "))),
            "avatar_url" | "avatar_url_100" | "avatar_large_url" => {
                (BASIC, json!(cx.sim.picture(&identity.remote_id)))
            }
            "username" => (PROFILE, json!(identity.username)),
            "bio_description" => (PROFILE, json!("")),
            "profile_deep_link" => {
                (PROFILE, json!(format!("{}/@{}", cx.sim.base(), identity.username)))
            }
            "is_verified" => (PROFILE, json!(false)),
            "follower_count" => (STATS, count("followers")),
            "following_count" | "likes_count" | "video_count" => (STATS, json!(0)),
            other => return Err(failure::invalid(&format!("Fields are not valid: {other}"))),
        };
        // One field of a scope that was not granted fails the call.
        access::account_with_scope(cx, scope)?;
        user.insert(field.to_owned(), value);
    }
    failure::success(json!({"user": user}))
}

/// `POST /v2/post/publish/creator_info/query/`
pub(super) fn query(cx: &Cx) -> HandlerResult {
    const MINUTE: Limit = Limit { name: "creator_info", units: 20, span_ms: 60_000 };
    let account = access::account_with_scope(cx, "video.publish")?;
    super::count_call(cx, &account, MINUTE)?;
    let identity = &account.identity;
    failure::success(json!({
        "creator_avatar_url": cx.sim.picture(&identity.remote_id),
        "creator_username": identity.username,
        "creator_nickname": identity.username.replace(['.', '_'], " "),
        "privacy_level_options": PRIVACY,
        "comment_disabled": false,
        "duet_disabled": false,
        "stitch_disabled": false,
        "max_video_post_duration_sec": 600,
    }))
}

/// Returns true if a post is public.
pub(super) fn is_public(post: &Post, now_ms: i64) -> bool {
    post.ready_ms <= now_ms && post.info.get("privacy_level") == Some(&json!(PRIVACY[0]))
}

/// `POST /v2/video/list/?fields=…`: public posts, latest first. The cursor is a time in milliseconds; older posts are
/// on the next page.
pub(super) fn list(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scope(cx, "video.list")?;
    let body = cx.call.json().unwrap_or_default();
    let most = body["max_count"].as_u64().unwrap_or(10);
    if !(1..=20).contains(&most) {
        return Err(failure::invalid("max_count must be from 1 to 20"));
    }
    let most = usize::try_from(most).unwrap_or(20);
    let fields = cx.call.query_value("fields").unwrap_or_default();
    let name = &account.identity.username;
    let now_ms = cx.now_ms();
    let view = |post: &Post| {
        let text = |key: &str| post.info.get(key).and_then(Value::as_str).unwrap_or_default();
        let mut view = Map::new();
        for field in fields.split(',') {
            let value = match field {
                "id" => json!(post.id.to_string()),
                "title" => json!(text("title")),
                "video_description" if post.is_photo => json!(text("description")),
                "video_description" => json!(text("title")),
                "create_time" => json!(post.at_ms / 1_000),
                "share_url" => json!(super::address(&cx.sim.base(), name, post)),
                _ => continue,
            };
            view.insert(field.to_owned(), value);
        }
        Value::Object(view)
    };
    let before_ms = body["cursor"].as_i64().unwrap_or(i64::MAX);
    let (videos, cursor, has_more) = account.read(|state| {
        let is_on = |post: &&Post| is_public(post, now_ms) && post.at_ms < before_ms;
        let mut rest = state.posts.values().rev().filter(is_on);
        let shown: Vec<&Post> = rest.by_ref().take(most).collect();
        let cursor = shown.last().map_or(now_ms, |last| last.at_ms);
        (shown.into_iter().map(view).collect::<Vec<_>>(), cursor, rest.next().is_some())
    });
    failure::success(json!({"videos": videos, "cursor": cursor, "has_more": has_more}))
}

/// `POST /v2/video/query/?fields=…`: public videos by their ids, with their metrics.
pub(super) fn counts(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scope(cx, "video.list")?;
    let body = cx.call.json().unwrap_or_default();
    let ids = body["filters"]["video_ids"].as_array().cloned().unwrap_or_default();
    if ids.is_empty() || ids.len() > 20 {
        return Err(failure::invalid("video_ids must have from 1 to 20 elements"));
    }
    let now_ms = cx.now_ms();
    let mut videos = Vec::new();
    for id in ids.iter().filter_map(Value::as_str) {
        let is_there = account.read(|state| {
            let post = id.parse().ok().and_then(|id: u64| state.posts.get(&id));
            post.is_some_and(|post| is_public(post, now_ms))
        });
        if !is_there {
            continue;
        }
        let mut video = json!({
            "id": id, "like_count": null, "comment_count": null, "share_count": null, "view_count": null,
        });
        metrics::fill_metrics(&account, MetricSubject::Post(id), &mut video, &COUNTS)?;
        videos.push(video);
    }
    failure::success(json!({ "videos": videos }))
}

/// The fields of a video with its metrics.
const COUNTS: [(&str, &str); 4] = [
    ("/like_count", "likes"),
    ("/comment_count", "comments"),
    ("/share_count", "shares"),
    ("/view_count", "views"),
];
