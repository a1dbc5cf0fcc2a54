//! Reads of posts and users.

use serde_json::json;

use super::{Cx, access, community, representations};
use crate::metrics::{self, MetricSubject};
use crate::reply::{HandlerResult, Reply};

/// The fields of a post with its metrics.
const COUNTS: [(&str, &str); 2] = [("/counts/upvotes", "likes"), ("/counts/comments", "comments")];

/// The most posts of a page.
const LIMIT_MAX: usize = 50;

/// `GET /user?username=`: a user with a page of posts and comments.
pub(super) fn user(cx: &Cx) -> HandlerResult {
    let name = cx.call.query_value("username").unwrap_or_default();
    let name = name.split('@').next().unwrap_or_default().to_lowercase();
    let number = cx.call.query_value("person_id").unwrap_or_default();
    let found = cx.sim.find(&name).or_else(|| cx.sim.account(&number));
    let account = found.ok_or_else(|| access::failure(404, "couldnt_find_person"))?;
    let number = |name: &str, usual: usize| {
        cx.call.query_value(name).and_then(|text| text.parse().ok()).unwrap_or(usual).max(1)
    };
    let (page, limit) = (number("page", 1), number("limit", 10).min(LIMIT_MAX));
    let posts: Vec<_> = account.read(|state| {
        let newest = state.posts.values().rev().filter(|post| !post.deleted);
        newest
            .skip((page - 1).saturating_mul(limit))
            .take(limit)
            .map(|post| representations::view(post, &account.identity))
            .collect()
    });
    Ok(Reply::ok(&json!({
        "person_view": {"person": representations::person(&account.identity), "is_admin": false},
        "posts": posts,
        "comments": [],
        "moderates": [],
    })))
}

/// `GET /post?id=`
pub(super) fn post(cx: &Cx) -> HandlerResult {
    let id: Option<u64> = cx.call.query_value("id").and_then(|id| id.parse().ok());
    let found = cx.sim.all().into_iter().find_map(|account| {
        let post = account.read(|state| state.posts.get(&id?).cloned())?;
        Some((representations::view(&post, &account.identity), account))
    });
    let (mut found, owner) = found.ok_or_else(|| access::failure(404, "couldnt_find_post"))?;
    let named = cx.call.query_value("id").unwrap_or_default();
    metrics::fill_metrics(&owner, MetricSubject::Post(&named), &mut found, &COUNTS)?;
    let community = found["post"]["community_id"].as_u64().and_then(community::by_id);
    Ok(Reply::ok(&json!({
        "post_view": found,
        "community_view": community.map(community::Community::view),
        "moderators": [],
        "cross_posts": [],
    })))
}
