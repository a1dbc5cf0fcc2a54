//! Comments on a page's posts, and webhooks about them and about messages.

use serde_json::{Value, json};

use super::state::{Kind, Post, State};
use super::{Cx, content, feed, first, id, params, reads, representations};
use crate::behaviour::Ids;
use crate::graph::{self, access, failure, fields, inbox};
use crate::mailbox::{Item, ItemEvent, ItemKind, NewItem};
use crate::network::Identity;
use crate::reply::{HandlerResult, Reply};

/// Returns the id of a new item of another user, after checking that its post or comment exists.
pub(super) fn new_id(
    unique: u64,
    state: &State,
    owner: &Identity,
    new: &NewItem,
) -> Result<(String, Option<String>), String> {
    match new.kind {
        ItemKind::Message => Ok((format!("m_{unique}"), None)),
        ItemKind::Review => Err("a page has no reviews here".into()),
        ItemKind::Comment => {
            let of_parent = new.parent_id.as_ref().map(|parent| {
                let parent = state.mail.get(parent).ok_or("there is no such comment")?;
                parent.post.clone().ok_or("there is no such comment")
            });
            let latest =
                || state.posts.keys().next_back().map(|id| representations::public_id(owner, *id));
            let post = match of_parent {
                Some(post) => post?,
                None => new.post_id.clone().or_else(latest).ok_or("the page has no post")?,
            };
            let number = representations::number(&post).filter(|number| is_post(state, *number));
            let number = number.ok_or("there is no such post")?;
            Ok((format!("{number}_{unique}"), Some(post)))
        }
    }
}

/// Returns true for the number of a post, or of the video or photo in one.
fn is_post(state: &State, number: u64) -> bool {
    post_of(state, number).is_some()
}

/// Returns the post with this number, or with this video or photo.
fn post_of(state: &State, number: u64) -> Option<&Post> {
    let has = |post: &&Post| post.video == Some(number) || post.photos.contains(&number);
    state.posts.get(&number).or_else(|| state.posts.values().find(has))
}

/// Returns the name of a post in webhooks: that of its place in the feed, or that of its only photo
/// (post-for-me PR 354, brightbean-studio PR 84).
pub(super) fn other_name(state: &State, owner: &Identity, ids: &Ids, name: String) -> String {
    let number = representations::number(&name);
    let Some(post) = number.and_then(|number| post_of(state, number)) else { return name };
    match (ids.post.as_deref(), post.photos.as_slice()) {
        (Some("photo"), [photo]) => representations::public_id(owner, *photo),
        // A story is no part of the feed.
        _ if post.kind == Kind::Story => name,
        _ => representations::public_id(owner, post.id),
    }
}

/// Returns the webhook that a page receives.
pub(super) fn webhook(
    owner: &Identity,
    item: &Item,
    verb: ItemEvent,
    now_ms: i64,
) -> Option<Value> {
    let page = &owner.remote_id;
    if item.kind == ItemKind::Message {
        return match verb {
            ItemEvent::Add | ItemEvent::Remove => {
                Some(inbox::messaging("page", page, item, verb == ItemEvent::Remove, now_ms))
            }
            _ => None,
        };
    }
    let verb = match verb {
        ItemEvent::Add => "add",
        ItemEvent::Edit => "edited",
        ItemEvent::Remove => "remove",
        ItemEvent::Hide => "hide",
        ItemEvent::Unhide => "unhide",
    };
    let value = json!({
        "item": "comment", "verb": verb, "comment_id": item.id, "post_id": item.post,
        "parent_id": item.parent.as_ref().or(item.post.as_ref()),
        "from": {"id": item.author.id, "name": item.author.username},
        "message": item.text, "created_time": item.at_ms / 1_000,
    });
    let entry =
        json!({"id": page, "time": now_ms / 1_000, "changes": [{"field": "feed", "value": value}]});
    Some(json!({"object": "page", "entry": [entry]}))
}

/// `POST /{post}/comments` and `POST /{comment}/comments`
pub(super) fn comment(cx: &Cx) -> HandlerResult {
    let account = access::page(cx)?;
    let named = first(cx);
    if account.read(|state| state.mail.get(&named).is_none()) {
        return feed::comment(cx);
    }
    let message = content::message(&params(cx)?, "message")?;
    if message.trim().is_empty() {
        return Err(content::invalid_parameter("The parameter message is required"));
    }
    let post = named.split('_').next().unwrap_or_default().to_owned();
    inbox::answer(cx, &message, format!("{post}_{}", id(cx)))
}

/// `GET /{post}/comments` and `GET /{comment}/comments`, latest last.
pub(super) fn comments(cx: &Cx) -> HandlerResult {
    const KNOWN: [&str; 5] = ["parent", "attachment", "from", "can_hide", "can_remove"];
    let account = access::page(cx)?;
    let named = first(cx);
    let (items, is_there) = account.read(|state| {
        let seen = state.mail.visible(ItemKind::Comment);
        let number = representations::number(&named);
        let stream = cx.call.query_value("filter").as_deref() == Some("stream");
        let is_comment = state.mail.get(&named).is_some();
        let below = |item: &&&Item| match is_comment {
            true => item.parent.as_deref() == Some(&named),
            false => {
                let of_item = item.post.as_deref().and_then(representations::number);
                let post = |number| Some(post_of(state, number?)?.id);
                let of_post =
                    of_item == number || (number.is_some() && post(of_item) == post(number));
                of_post && (stream || item.parent.is_none())
            }
        };
        let items: Vec<Item> = seen.iter().filter(below).map(|item| (*item).clone()).collect();
        (items, is_comment || number.is_some_and(|number| is_post(state, number)))
    });
    if !is_there {
        return Err(failure::missing(&named));
    }
    let own = reads::own_comments(cx, &account, &named);
    let base = cx.sim.base();
    let count = |id: &str| items.iter().filter(|one| one.parent.as_deref() == Some(id)).count();
    let view = |item: &Item| {
        let mut view = json!({
            "id": item.id, "message": item.text, "created_time": graph::time(item.at_ms),
            "from": {"id": item.author.id, "name": item.author.username},
            "is_hidden": item.hidden, "like_count": 0, "comment_count": count(&item.id),
            "permalink_url": format!("{base}/ui/{}?comment={}", account.identity.remote_id, item.id),
            "can_hide": !item.own, "can_remove": true,
        });
        if let Some(parent) = &item.parent {
            view["parent"] = json!({"id": parent});
        }
        view
    };
    let whole = own.into_iter().chain(items.iter().map(view));
    let data = whole.map(|view| fields::pick(&cx.call, &view, &KNOWN, "Comment"));
    let data: Vec<Value> = data.collect::<Result<_, Reply>>()?;
    Ok(Reply::ok(&json!({ "data": data })))
}

/// `POST /{comment}`: hides or unhides it.
pub(super) fn hide(cx: &Cx) -> HandlerResult {
    inbox::hide(cx, params(cx)?.flag("is_hidden"))
}
