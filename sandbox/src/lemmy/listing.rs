//! Reading posts and users back.

use serde_json::json;

use super::{Cx, access, shown};
use crate::reply::{Answer, Reply};

/// `GET /user?username=`: a user with posts and comments.
pub(super) fn user(cx: &Cx) -> Answer {
    let name = cx.call.query_value("username").unwrap_or_default();
    let name = name.split('@').next().unwrap_or_default().to_lowercase();
    let number = cx.call.query_value("person_id").unwrap_or_default();
    let found = cx.sim.find(&name).or_else(|| cx.sim.account(&number));
    let account = found.ok_or_else(|| access::failure(404, "couldnt_find_person"))?;
    let limit = cx.call.query_value("limit").and_then(|limit| limit.parse().ok()).unwrap_or(10);
    let posts: Vec<_> = account.look(|home| {
        let newest = home.posts.values().rev().filter(|post| !post.deleted).take(limit);
        newest.map(|post| shown::view(post, &account.identity)).collect()
    });
    Ok(Reply::ok(&json!({
        "person_view": {"person": shown::person(&account.identity), "is_admin": false},
        "posts": posts,
        "comments": [],
        "moderates": [],
    })))
}

/// `GET /post?id=`
pub(super) fn post(cx: &Cx) -> Answer {
    let id: Option<u64> = cx.call.query_value("id").and_then(|id| id.parse().ok());
    let found = cx.sim.all().into_iter().find_map(|account| {
        let post = account.look(|home| home.posts.get(&id?).cloned())?;
        Some(shown::view(&post, &account.identity))
    });
    let found = found.ok_or_else(|| access::failure(404, "couldnt_find_post"))?;
    Ok(Reply::ok(&json!({"post_view": found, "moderators": [], "cross_posts": []})))
}
