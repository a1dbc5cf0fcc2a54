//! Lists of posts and replies, newest first, in pages.

use std::sync::Arc;

use serde_json::{Value, json};

use super::state::Published;
use super::{Cx, Threads, access, below_version, failure, media};
use crate::reply::{Answer, Reply};
use crate::sim::Account;

const PAGE: usize = 25;
const PAGE_MAX: usize = 100;
/// How long a ghost post is seen, in milliseconds.
const GHOST_MS: i64 = 86_400_000;

type Owned = (Arc<Account<Threads>>, Published);

/// `GET /{user}/threads`: what the user posted, replies aside.
pub(super) fn posts(cx: &Cx) -> Answer {
    let account = access::user(cx)?;
    let posts = own(cx, &account, |post| post.content.reply_to.is_none());
    page(cx, posts)
}

/// `GET /{user}/replies` and `GET /{post}/replies`
pub(super) fn replies(cx: &Cx) -> Answer {
    let account = access::account(cx)?;
    let segments = cx.call.segments();
    let id = below_version(&segments).first().copied().unwrap_or_default();
    if id == "me" || id == account.identity.remote_id {
        let posts = own(cx, &account, |post| post.content.reply_to.is_some());
        return page(cx, posts);
    }
    let root = own_post(&account, id)?;
    page(cx, answers(cx, &[root]))
}

/// `GET /{post}/conversation`: all replies below a post.
pub(super) fn conversation(cx: &Cx) -> Answer {
    let account = access::account(cx)?;
    let segments = cx.call.segments();
    let root = own_post(&account, below_version(&segments).first().copied().unwrap_or_default())?;
    let (mut all, mut level) = (Vec::new(), vec![root]);
    while !level.is_empty() {
        let next = answers(cx, &level);
        level = next.iter().map(|(_, post)| post.id).collect();
        all.extend(next);
    }
    all.sort_by_key(|(_, post)| std::cmp::Reverse(post.id));
    page(cx, all)
}

fn own_post(account: &Account<Threads>, id: &str) -> Result<u64, Reply> {
    let found =
        id.parse().ok().filter(|id| account.look(|state| state.made.posts.contains_key(id)));
    found.ok_or_else(|| failure::missing(id))
}

fn own(cx: &Cx, account: &Arc<Account<Threads>>, fits: impl Fn(&Published) -> bool) -> Vec<Owned> {
    let now_ms = cx.now_ms();
    let seen = |post: &&Published| {
        let ghost = post.content.extra.contains_key("is_ghost_post");
        fits(post) && (!ghost || now_ms < post.at_ms + GHOST_MS)
    };
    account.look(|state| {
        state
            .made
            .posts
            .values()
            .rev()
            .filter(seen)
            .map(|post| (Arc::clone(account), post.clone()))
            .collect()
    })
}

/// The direct replies to any of the posts, newest first.
fn answers(cx: &Cx, to: &[u64]) -> Vec<Owned> {
    let fits = |post: &Published| post.content.reply_to.is_some_and(|id| to.contains(&id));
    let mut found: Vec<_> =
        cx.sim.all().iter().flat_map(|account| own(cx, account, fits)).collect();
    found.sort_by_key(|(_, post)| std::cmp::Reverse(post.id));
    found
}

fn page(cx: &Cx, posts: Vec<Owned>) -> Answer {
    let query = |name: &str| cx.call.query_value(name);
    let limit =
        query("limit").and_then(|limit| limit.parse().ok()).unwrap_or(PAGE).clamp(1, PAGE_MAX);
    let after: u64 = query("after").and_then(|cursor| cursor.parse().ok()).unwrap_or(u64::MAX);
    let (since, until) = (seconds(query("since")), seconds(query("until")));
    let fits = |post: &Published| {
        let at = post.at_ms / 1_000;
        post.id < after
            && since.is_none_or(|since| at >= since)
            && until.is_none_or(|until| at <= until)
    };
    let mut fitting = posts.into_iter().filter(|(_, post)| fits(post)).peekable();
    let mut data = Vec::new();
    let mut ids = Vec::new();
    while let Some((owner, post)) = fitting.next_if(|_| data.len() < limit) {
        data.push(media::pick(&cx.call, &media::view(cx, &owner.identity, &post), "ThreadsMedia")?);
        ids.push(post.id.to_string());
    }
    let more = fitting.peek().is_some();
    let mut reply = json!({"data": data});
    if let (Some(first), Some(last)) = (ids.first(), ids.last()) {
        reply["paging"] = json!({"cursors": {"before": first, "after": last}});
        if more {
            reply["paging"]["next"] =
                json!(format!("{}/{}?after={last}", cx.sim.base(), cx.call.path));
        }
    }
    Ok(Reply::ok(&reply as &Value))
}

/// A time in seconds, or a date.
fn seconds(text: Option<String>) -> Option<i64> {
    let text = text?;
    let date = || chrono::DateTime::parse_from_rfc3339(&text).ok().map(|date| date.timestamp());
    text.parse().ok().or_else(date)
}
