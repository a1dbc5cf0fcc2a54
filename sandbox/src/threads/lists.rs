//! Lists of posts and replies, newest first, in pages.

use std::sync::Arc;

use serde_json::{Value, json};

use super::state::Published;
use super::{Cx, Threads, access, below_version, failure, inbox, media};
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

const PAGE: usize = 25;
const PAGE_MAX: usize = 100;
/// The time for which a ghost post is visible, in milliseconds.
const GHOST_MS: i64 = 86_400_000;

/// A post or reply in a list: its number, its time and its JSON representation.
type Entry = (u64, i64, Value);

/// `GET /{user}/threads`: the user's posts, without replies.
pub(super) fn posts(cx: &Cx) -> HandlerResult {
    let account = access::user(cx)?;
    let posts = own(cx, &account, |post| post.content.reply_to.is_none());
    page(cx, posts)
}

/// `GET /{user}/replies` and `GET /{post}/replies`
pub(super) fn replies(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let segments = cx.call.segments();
    let id = below_version(&segments).first().copied().unwrap_or_default();
    if id == "me" || id == account.identity.remote_id {
        let posts = own(cx, &account, |post| post.content.reply_to.is_some());
        return page(cx, posts);
    }
    let root = root(cx, &account, id)?;
    page(cx, answers(cx, &account, &[root]))
}

/// `GET /{post}/conversation`: all replies below a post.
pub(super) fn conversation(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let segments = cx.call.segments();
    let id = below_version(&segments).first().copied().unwrap_or_default();
    let (mut all, mut level) = (Vec::new(), vec![root(cx, &account, id)?]);
    while !level.is_empty() {
        let next = answers(cx, &account, &level);
        level = next.iter().map(|(id, ..)| *id).collect();
        all.extend(next);
    }
    all.sort_by_key(|(id, ..)| std::cmp::Reverse(*id));
    page(cx, all)
}

/// Returns the number of the user's own post, or of a reply of another user to one.
fn root(cx: &Cx, account: &Account<Threads>, id: &str) -> Result<u64, Reply> {
    let is_there = |id: &u64| {
        account.read(|state| state.made.posts.contains_key(id)) || inbox::is_there(cx, *id)
    };
    id.parse().ok().filter(is_there).ok_or_else(|| failure::missing(id))
}

fn own(cx: &Cx, account: &Arc<Account<Threads>>, fits: impl Fn(&Published) -> bool) -> Vec<Entry> {
    let now_ms = cx.now_ms();
    let seen = |post: &&Published| {
        let ghost = post.content.extra.contains_key("is_ghost_post");
        fits(post) && (!ghost || now_ms < post.at_ms + GHOST_MS)
    };
    let posts: Vec<Published> =
        account.read(|state| state.made.posts.values().rev().filter(seen).cloned().collect());
    let entry = |post: &Published| (post.id, post.at_ms, media::view(cx, &account.identity, post));
    posts.iter().map(entry).collect()
}

/// Returns the direct replies to any of these, newest first.
fn answers(cx: &Cx, account: &Account<Threads>, to: &[u64]) -> Vec<Entry> {
    let fits = |post: &Published| post.content.reply_to.is_some_and(|id| to.contains(&id));
    let of_users = cx.sim.all().into_iter().flat_map(|account| own(cx, &account, fits));
    let mut found: Vec<Entry> = of_users.chain(inbox::below(cx, account, to)).collect();
    found.sort_by_key(|(id, ..)| std::cmp::Reverse(*id));
    found
}

fn page(cx: &Cx, posts: Vec<Entry>) -> HandlerResult {
    let query = |name: &str| cx.call.query_value(name);
    let limit =
        query("limit").and_then(|limit| limit.parse().ok()).unwrap_or(PAGE).clamp(1, PAGE_MAX);
    let after: u64 = query("after").and_then(|cursor| cursor.parse().ok()).unwrap_or(u64::MAX);
    let (since, until) = (seconds(query("since")), seconds(query("until")));
    let fits = |(id, at_ms, _): &Entry| {
        let at = at_ms / 1_000;
        *id < after
            && since.is_none_or(|since| at >= since)
            && until.is_none_or(|until| at <= until)
    };
    let mut fitting = posts.into_iter().filter(fits).peekable();
    let mut data = Vec::new();
    let mut ids = Vec::new();
    while let Some((id, _, view)) = fitting.next_if(|_| data.len() < limit) {
        data.push(media::pick(&cx.call, &view, "ThreadsMedia")?);
        ids.push(id.to_string());
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
    Ok(Reply::ok(&reply))
}

/// Parses a time in seconds, or a date.
fn seconds(text: Option<String>) -> Option<i64> {
    let text = text?;
    let date = || chrono::DateTime::parse_from_rfc3339(&text).ok().map(|date| date.timestamp());
    text.parse().ok().or_else(date)
}
