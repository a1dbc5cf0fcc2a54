//! Publishing containers, and the publishing limit.

use serde_json::json;

use super::content::{invalid_parameter, refused};
use super::state::{Change, Container, State};
use super::{Cx, id, params, user};
use crate::graph::containers::{Change as Made, Status};
use crate::graph::{failure, fields, with_usage};
use crate::random::{self, BASE64URL};
use crate::reply::{HandlerResult, Reply};

/// Posts of an account in 24 hours.
const POSTS: usize = 100;
const DAY_MS: i64 = 86_400_000;

/// `POST /{user}/media_publish`
pub(super) fn publish(cx: &Cx) -> HandlerResult {
    let account = user(cx)?;
    let named = params(cx)?.filled("creation_id");
    let named = named.ok_or_else(|| invalid_parameter("The parameter creation_id is required"))?;
    let (made, now_ms, limited) = (id(cx), cx.now_ms(), cx.sim.env.rate_limits());
    cx.sim.change(&account, |state| {
        let container = named.parse().ok().and_then(|id: u64| state.made.containers.get(&id));
        let container = container.ok_or_else(|| {
            let explanation = "The media builder with the creation id does not exist or has expired.";
            refused(2_207_006, "Media not found", explanation)
        })?;
        ready(state, container, now_ms)?;
        if limited && used(state, now_ms) >= POSTS {
            let explanation = "You reached maximum number of posts that is allowed to be published by Content Publishing API.";
            return Err(failure::explained(400, 9, 2_207_042, "Application request limit reached", "Too many posts", explanation));
        }
        let shortcode = random::text(BASE64URL, 11);
        Ok((Change::Made(Made::Published { container: container.id, id: made, at_ms: now_ms, shortcode }), ()))
    })?;
    Ok(with_usage(Reply::ok(&json!({"id": made.to_string()})), 5))
}

fn ready(state: &State, container: &Container, now_ms: i64) -> Result<(), Reply> {
    if container.content.carousel_item {
        return Err(invalid_parameter("A carousel item cannot be published by itself"));
    }
    match state.made.status(container, now_ms) {
        Status::Finished => Ok(()),
        Status::InProgress => Err(failure::explained(
            400,
            9_007,
            2_207_027,
            "Media ID is not available",
            "Media not ready",
            "The media is not ready to be published. Please wait a moment.",
        )),
        Status::Error(flaw) => {
            Err(refused(flaw, "Media upload failed", "The media could not be processed."))
        }
        Status::Expired => Err(refused(
            2_207_020,
            "Media expired",
            "The media you are trying to access has expired. Please try to upload again.",
        )),
        Status::Published => Err(invalid_parameter("The media was already published")),
    }
}

/// Returns the number of posts in the last 24 hours.
fn used(state: &State, now_ms: i64) -> usize {
    state.made.posts.values().rev().take_while(|post| post.at_ms > now_ms - DAY_MS).count()
}

/// `GET /{user}/content_publishing_limit`. While limits are not enforced, usage is 0.
pub(super) fn limit(cx: &Cx) -> HandlerResult {
    let account = user(cx)?;
    let now_ms = cx.now_ms();
    let usage =
        if cx.sim.env.rate_limits() { account.read(|state| used(state, now_ms)) } else { 0 };
    let config = json!({"quota_total": POSTS, "quota_duration": DAY_MS / 1_000});
    let whole = json!({"quota_usage": usage, "config": config});
    let picked = fields::pick(&cx.call, &whole, &[], "ContentPublishingLimit")?;
    let empty = picked.as_object().is_some_and(serde_json::Map::is_empty);
    let shown = if empty { json!({"quota_usage": usage}) } else { picked };
    Ok(Reply::ok(&json!({"data": [shown]})))
}
