//! Comments by others on the account's posts, and webhooks about them and about messages.

use serde_json::{Value, json};

use super::content::invalid_parameter;
use super::state::State;
use super::{Cx, comments, first, id, params};
use crate::graph::{self, access, failure, fields, inbox};
use crate::mailbox::{Item, ItemEvent, ItemKind, NewItem};
use crate::network::Identity;
use crate::reply::{HandlerResult, Reply};

/// Longest comment.
const COMMENT: usize = 2_200;

/// Returns the id of a new item of another user, after checking that its post or comment exists.
pub(super) fn new_id(
    unique: u64,
    state: &State,
    new: &NewItem,
) -> Result<(String, Option<String>), String> {
    match new.kind {
        ItemKind::Message => Ok((format!("m_{unique}"), None)),
        ItemKind::Review => Err("an account has no reviews".into()),
        ItemKind::Comment => {
            let of_parent = new.parent_id.as_ref().map(|parent| {
                let parent = state.mail.get(parent).ok_or("there is no such comment")?;
                parent.post.clone().ok_or("there is no such comment")
            });
            let latest = || state.made.posts.keys().next_back().map(u64::to_string);
            let post = match of_parent {
                Some(post) => post?,
                None => new.post_id.clone().or_else(latest).ok_or("the account has no post")?,
            };
            let is_there = post.parse().is_ok_and(|id: u64| state.made.posts.contains_key(&id));
            if !is_there {
                return Err("there is no such post".into());
            }
            Ok(((17_000_000_000_000_000 + unique).to_string(), Some(post)))
        }
    }
}

/// Returns the webhook that the account receives: edits, hides and deletions are not reported.
pub(super) fn webhook(
    owner: &Identity,
    item: &Item,
    verb: ItemEvent,
    now_ms: i64,
) -> Option<Value> {
    let account = &owner.remote_id;
    match (item.kind, verb) {
        (ItemKind::Message, ItemEvent::Add | ItemEvent::Remove) => {
            Some(inbox::messaging("instagram", account, item, verb == ItemEvent::Remove, now_ms))
        }
        (ItemKind::Comment, ItemEvent::Add) => {
            let mut from = json!({"id": item.author.id, "username": item.author.username});
            if item.own {
                from["self_ig_scoped_id"] = json!(account);
            }
            let mut value = json!({
                "id": item.id, "text": item.text, "from": from,
                "media": {"id": item.post, "media_product_type": "FEED"},
            });
            if let Some(parent) = &item.parent {
                value["parent_id"] = json!(parent);
            }
            let entry = json!({"id": account, "time": item.at_ms / 1_000, "changes": [{"field": "comments", "value": value}]});
            Some(json!({"object": "instagram", "entry": [entry]}))
        }
        _ => None,
    }
}

/// `POST /{comment}/replies`
pub(super) fn reply(cx: &Cx) -> HandlerResult {
    let account = access::page(cx)?;
    let named = first(cx);
    if account.read(|state| state.mail.get(&named).is_none()) {
        return comments::post(cx);
    }
    let text = params(cx)?.filled("message");
    let text = text.ok_or_else(|| invalid_parameter("The parameter message is required"))?;
    if text.chars().count() > COMMENT {
        return Err(invalid_parameter("Param message must be at most 2200 characters long"));
    }
    inbox::answer(cx, &text, id(cx).to_string())
}

/// `GET /{comment}/replies`
pub(super) fn replies(cx: &Cx) -> HandlerResult {
    let account = access::page(cx)?;
    let named = first(cx);
    let items = account.read(|state| {
        state.mail.get(&named)?;
        Some(below(state, &named))
    });
    let items = items.ok_or_else(|| failure::missing(&named))?;
    let data = items.iter().map(|item| fields::pick(&cx.call, &view(item), &OPTIONAL, "IGComment"));
    let data: Vec<Value> = data.collect::<Result<_, Reply>>()?;
    Ok(Reply::ok(&json!({ "data": data })))
}

/// Optional fields of comments.
pub(super) const OPTIONAL: [&str; 3] = ["from", "replies", "parent_id"];

fn below(state: &State, parent: &str) -> Vec<Item> {
    let seen = state.mail.visible(ItemKind::Comment).into_iter();
    let below = seen.filter(|item| item.parent.as_deref() == Some(parent) && !item.hidden);
    below.cloned().collect()
}

/// Returns comments by others on a post, latest first. With the login through a page, hidden ones are left out.
pub(super) fn on_post(state: &State, post: u64) -> Vec<Value> {
    let post = post.to_string();
    let seen = state.mail.visible(ItemKind::Comment).into_iter().rev();
    let top = seen.filter(|item| {
        item.post.as_deref() == Some(&post) && item.parent.is_none() && !item.hidden
    });
    let with_replies = |item: &Item| {
        let mut shown = view(item);
        let below: Vec<_> = below(state, &item.id).iter().map(view).collect();
        if !below.is_empty() {
            shown["replies"] = json!({ "data": below });
        }
        shown
    };
    top.map(with_replies).collect()
}

/// Returns a comment in Instagram's format.
pub(super) fn view(item: &Item) -> Value {
    let mut view = json!({
        "id": item.id, "text": item.text, "timestamp": graph::time(item.at_ms),
        "from": {"id": item.author.id, "username": item.author.username},
        "username": item.author.username, "hidden": item.hidden, "like_count": 0,
    });
    if let Some(parent) = &item.parent {
        view["parent_id"] = json!(parent);
    }
    view
}

/// `POST /{comment}`: hides or unhides it.
pub(super) fn hide(cx: &Cx) -> HandlerResult {
    inbox::hide(cx, params(cx)?.flag("hide"))
}
