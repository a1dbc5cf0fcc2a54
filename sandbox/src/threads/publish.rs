//! Publishing containers, and the publishing limit.

use serde_json::json;

use super::state::{Change, Container, State};
use super::{Cx, Threads, access, create, failure, media};
use crate::graph::containers::{Change as Made, Status};
use crate::graph::with_usage;
use crate::params::Params;
use crate::random::{self, BASE64URL};
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

const POSTS: usize = 250;
const REPLIES: usize = 1_000;
const DELETIONS: usize = 100;
const DAY_MS: i64 = 86_400_000;

/// `POST /{user}/threads_publish`
pub(super) fn publish(cx: &Cx) -> HandlerResult {
    let account = access::user(cx)?;
    let params = Params::read(&cx.call)
        .map_err(|_| failure::graph(400, 100, 0, "(#100) The body cannot be read"))?;
    let id = params.filled("creation_id");
    let id = id.ok_or_else(|| {
        failure::graph(400, 100, 0, "(#100) The parameter creation_id is required")
    })?;
    let now_ms = cx.now_ms();
    let made = change(cx, &account, &id, |state, container| ready(state, container, now_ms))?;
    Ok(done(made))
}

/// Publishes a text at once, even if its container is not finished.
pub(super) fn at_once(cx: &Cx, account: &Account<Threads>, container: u64) -> HandlerResult {
    let made = change(cx, account, &container.to_string(), |_, _| Ok(()))?;
    Ok(done(made))
}

/// Returns the response with the new post's id and the call usage.
fn done(made: u64) -> Reply {
    with_usage(Reply::ok(&json!({"id": made.to_string()})), 5)
}

fn change(
    cx: &Cx,
    account: &Account<Threads>,
    id: &str,
    check: impl FnOnce(&State, &Container) -> Result<(), Reply>,
) -> Result<u64, Reply> {
    let now_ms = cx.now_ms();
    let limited = cx.sim.env.rate_limits();
    cx.sim.change(account, |state| {
        let container = id.parse().ok().and_then(|id: u64| state.made.containers.get(&id)).ok_or_else(|| not_found(id))?;
        check(state, container)?;
        let reply = container.content.reply_to.is_some();
        let (posts, replies) = used(state, now_ms);
        if limited && (if reply { replies >= REPLIES } else { posts >= POSTS }) {
            let explanation = "You reached maximum number of posts that is allowed to be published by Content Publishing API.";
            return Err(failure::explained(400, 9, 2_207_042, "Application request limit reached", "Too many posts", explanation));
        }
        let made = create::id(cx);
        let shortcode = random::text(BASE64URL, 11);
        Ok((Change::Made(Made::Published { container: container.id, id: made, at_ms: now_ms, shortcode }), made))
    })
}

/// Returns the error of a container that does not exist, or not yet: Threads does not distinguish them.
fn not_found(id: &str) -> Reply {
    let explanation = format!("The media with id {id} cannot be found.");
    failure::explained(
        400,
        24,
        4_279_009,
        "The requested resource does not exist",
        "Media Not Found",
        &explanation,
    )
}

fn ready(state: &State, container: &Container, now_ms: i64) -> Result<(), Reply> {
    if container.content.carousel_item {
        return Err(failure::invalid("A carousel item cannot be published by itself."));
    }
    match state.made.status(container, now_ms) {
        Status::Finished => Ok(()),
        Status::InProgress => Err(not_found(&container.id.to_string())),
        Status::Error(flaw) => {
            Err(failure::invalid(&format!("The media failed to process: {flaw}")))
        }
        Status::Expired => {
            let explanation =
                "The media you are trying to access has expired. Please try to upload again.";
            Err(failure::explained(
                400,
                100,
                2_207_020,
                "Invalid parameter",
                "Media expired",
                explanation,
            ))
        }
        Status::Published => Err(failure::invalid("This container was already published.")),
    }
}

/// Returns the number of posts and of replies in the last 24 hours.
fn used(state: &State, now_ms: i64) -> (usize, usize) {
    let recent = state.made.posts.values().rev().take_while(|post| post.at_ms > now_ms - DAY_MS);
    recent.fold((0, 0), |(posts, replies), post| match post.content.reply_to {
        Some(_) => (posts, replies + 1),
        None => (posts + 1, replies),
    })
}

/// `GET /{user}/threads_publishing_limit`
pub(super) fn limit(cx: &Cx) -> HandlerResult {
    let account = access::user(cx)?;
    let now_ms = cx.now_ms();
    let (posts, replies) = account.read(|state| used(state, now_ms));
    let config = |total: usize| json!({"quota_total": total, "quota_duration": DAY_MS / 1_000});
    let whole = json!({
        "quota_usage": posts,
        "config": config(POSTS),
        "reply_quota_usage": replies,
        "reply_config": config(REPLIES),
        "delete_quota_usage": 0,
        "delete_config": config(DELETIONS),
    });
    let mut picked = media::pick(&cx.call, &whole, "ThreadsPublishingLimit")?;
    if picked.as_object().is_some_and(serde_json::Map::is_empty) {
        picked = json!({"quota_usage": posts});
    }
    Ok(Reply::ok(&json!({"data": [picked]})))
}
