//! Replies of others to a user's posts.

use serde_json::{Value, json};

use super::state::{Change, State};
use super::{Cx, Threads, access, below_version, failure, representations};
use crate::env::utc;
use crate::mailbox::{self, Author, Item, ItemEvent, ItemKind, NewItem};
use crate::network::Identity;
use crate::params::Params;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// Returns the id of a new item of another user, after checking that its post or comment exists.
pub(super) fn new_id(
    unique: u64,
    state: &State,
    new: &NewItem,
) -> Result<(String, Option<String>), String> {
    if new.kind != ItemKind::Comment {
        return Err("a user has replies alone".into());
    }
    let of_parent =
        new.parent_id.as_ref().map(|parent| root(state, parent).ok_or("there is no such reply"));
    let posts = state.made.posts.values().rev();
    let latest = || {
        posts
            .into_iter()
            .find(|post| post.content.reply_to.is_none())
            .map(|post| post.id.to_string())
    };
    let post = match of_parent {
        Some(post) => post?,
        None => new.post_id.clone().or_else(latest).ok_or("the user has no post")?,
    };
    if !post.parse().is_ok_and(|id: u64| state.made.posts.contains_key(&id)) {
        return Err("there is no such post".into());
    }
    Ok(((18_000_000_000_000_000 + unique).to_string(), Some(post)))
}

/// Returns the post that a reply belongs to.
fn root(state: &State, id: &str) -> Option<String> {
    if let Some(item) = state.mail.get(id) {
        return item.post.clone();
    }
    let post = state.made.posts.get(&id.parse().ok()?)?;
    match post.content.reply_to {
        Some(parent) => root(state, &parent.to_string()),
        None => Some(id.to_owned()),
    }
}

/// Returns the replies that the user wrote, as the control API shows them.
pub(super) fn own(state: &State, owner: &Identity) -> Vec<Item> {
    let posts = state.made.posts.values().filter(|post| post.content.reply_to.is_some());
    let item = |post: &super::state::Published| {
        let to = post.content.reply_to.map(|to| to.to_string());
        let post_id = to.as_ref().and_then(|to| root(state, to));
        Item {
            id: post.id.to_string(),
            kind: ItemKind::Comment,
            at_ms: post.at_ms,
            author: Author { id: owner.remote_id.clone(), username: owner.username.clone() },
            own: true,
            text: post.content.text.clone(),
            with: None,
            parent: to.filter(|to| Some(to) != post_id.as_ref()),
            post: post_id,
            attachments: Vec::new(),
            rating: None,
            hidden: false,
            deleted: false,
            private_reply: false,
            metadata: None,
        }
    };
    posts.map(item).collect()
}

/// Returns the webhook that the app receives.
pub(super) fn webhook(
    owner: &Identity,
    item: &Item,
    verb: ItemEvent,
    now_ms: i64,
) -> Option<Value> {
    if verb != ItemEvent::Add {
        return None;
    }
    let time = |ms: i64| utc(ms).format("%Y-%m-%dT%H:%M:%S+0000").to_string();
    let value = json!({
        "id": item.id, "username": item.author.username, "text": item.text, "media_type": "TEXT_POST",
        "permalink": format!("https://www.threads.net/t/{}", item.id),
        "replied_to": {"id": item.parent.as_ref().or(item.post.as_ref())},
        "root_post": {"id": item.post, "owner_id": owner.remote_id, "username": owner.username},
        "shortcode": item.id, "timestamp": time(item.at_ms),
    });
    Some(json!({
        "app_id": "1", "topic": "moderate", "target_id": owner.remote_id, "time": now_ms / 1_000,
        "subscription_id": "1", "has_uid_field": false, "values": {"value": value, "field": "replies"},
    }))
}

/// Returns direct replies of others to one of these, each with its number.
pub(super) fn below(cx: &Cx, account: &Account<Threads>, to: &[u64]) -> Vec<(u64, i64, Value)> {
    let owner = &account.identity;
    let view = |item: &Item| {
        json!({
            "id": item.id, "text": item.text, "username": item.author.username,
            "timestamp": utc(item.at_ms).format("%Y-%m-%dT%H:%M:%S+0000").to_string(),
            "permalink": representations::permalink(&cx.sim.base(), owner, number(item)),
            "media_type": "TEXT_POST", "shortcode": item.id, "is_reply": true,
            "has_replies": false, "is_reply_owned_by_me": false,
            "hide_status": if item.hidden { "HIDDEN" } else { "NOT_HUSHED" },
            "replied_to": {"id": above(item)}, "root_post": {"id": item.post},
        })
    };
    account.read(|state| {
        let seen = state.mail.visible(ItemKind::Comment).into_iter();
        let is_below = |item: &&Item| {
            above(item).and_then(|id| id.parse().ok()).is_some_and(|id: u64| to.contains(&id))
        };
        seen.filter(is_below).map(|item| (number(item), item.at_ms, view(item))).collect()
    })
}

fn number(item: &Item) -> u64 {
    item.id.parse().unwrap_or_default()
}

/// Returns the item that a reply answers.
fn above(item: &Item) -> Option<&String> {
    item.parent.as_ref().or(item.post.as_ref())
}

/// Returns the post that a reply of another user belongs to.
pub(super) fn root_of(cx: &Cx, id: u64) -> Option<String> {
    cx.account.as_ref()?.read(|state| root(state, &id.to_string()))
}

/// `POST /{reply}/manage_reply`: hides or unhides a direct reply to a post.
pub(super) fn manage(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let segments = cx.call.segments();
    let named = below_version(&segments).first().copied().unwrap_or_default().to_owned();
    let params = Params::read(&cx.call)
        .map_err(|_| failure::graph(400, 100, 0, "(#100) The body cannot be read"))?;
    let hidden = params.flag("hide");
    cx.sim.change(&account, |state| {
        let item = state.mail.get(&named).ok_or_else(|| failure::missing(&named))?;
        if item.parent.is_some() {
            return Err(failure::invalid("Only top-level replies can be hidden."));
        }
        Ok((Change::Mail(mailbox::Change::Hidden { id: named.clone(), hidden }), ()))
    })?;
    Ok(Reply::ok(&json!({"success": true})))
}

/// Returns true if a reply of another user exists.
pub(super) fn is_there(cx: &Cx, id: u64) -> bool {
    let id = id.to_string();
    cx.account.as_ref().is_some_and(|account| account.read(|state| state.mail.get(&id).is_some()))
}
