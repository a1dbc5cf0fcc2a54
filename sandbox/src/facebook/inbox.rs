//! Comments on a page's posts, and webhooks about them and about messages.

use serde_json::{Value, json};

use super::state::State;
use super::{Cx, content, feed, first, id, params, reads, shown};
use crate::graph::{self, access, failure, fields, inbox};
use crate::mailbox::{Item, Kind, NewItem, Verb};
use crate::network::Identity;
use crate::reply::{Answer, Reply};

/// Returns the id of a new item of another user, after checking that its post or comment exists.
pub(super) fn new_id(
    unique: u64,
    state: &State,
    owner: &Identity,
    new: &NewItem,
) -> Result<(String, Option<String>), String> {
    match new.kind {
        Kind::Message => Ok((format!("m_{unique}"), None)),
        Kind::Review => Err("a page has no reviews here".into()),
        Kind::Comment => {
            let of_parent = new.parent_id.as_ref().map(|parent| {
                let parent = state.mail.get(parent).ok_or("there is no such comment")?;
                parent.post.clone().ok_or("there is no such comment")
            });
            let latest = || state.posts.keys().next_back().map(|id| shown::public_id(owner, *id));
            let post = match of_parent {
                Some(post) => post?,
                None => new.post_id.clone().or_else(latest).ok_or("the page has no post")?,
            };
            let number = shown::number(&post).filter(|number| is_post(state, *number));
            let number = number.ok_or("there is no such post")?;
            Ok((format!("{number}_{unique}"), Some(post)))
        }
    }
}

/// Returns true for the number of a post, or of the video in one.
fn is_post(state: &State, number: u64) -> bool {
    state.posts.contains_key(&number) || state.posts.values().any(|post| post.video == Some(number))
}

/// Returns the webhook that a page receives.
pub(super) fn webhook(owner: &Identity, item: &Item, verb: Verb, now_ms: i64) -> Option<Value> {
    let page = &owner.remote_id;
    if item.kind == Kind::Message {
        return match verb {
            Verb::Add | Verb::Remove => {
                Some(inbox::messaging("page", page, item, verb == Verb::Remove, now_ms))
            }
            _ => None,
        };
    }
    let verb = match verb {
        Verb::Add => "add",
        Verb::Edit => "edited",
        Verb::Remove => "remove",
        Verb::Hide => "hide",
        Verb::Unhide => "unhide",
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
pub(super) fn comment(cx: &Cx) -> Answer {
    let account = access::page(cx)?;
    let named = first(cx);
    if account.look(|state| state.mail.get(&named).is_none()) {
        return feed::comment(cx);
    }
    let message = content::message(&params(cx)?, "message")?;
    if message.trim().is_empty() {
        return Err(content::wrong("The parameter message is required"));
    }
    let post = named.split('_').next().unwrap_or_default().to_owned();
    inbox::answer(cx, &message, format!("{post}_{}", id(cx)))
}

/// `GET /{post}/comments` and `GET /{comment}/comments`, latest last.
pub(super) fn comments(cx: &Cx) -> Answer {
    const KNOWN: [&str; 5] = ["parent", "attachment", "from", "can_hide", "can_remove"];
    let account = access::page(cx)?;
    let named = first(cx);
    let (items, is_there) = account.look(|state| {
        let seen = state.mail.seen(Kind::Comment);
        let number = shown::number(&named);
        let stream = cx.call.query_value("filter").as_deref() == Some("stream");
        let is_comment = state.mail.get(&named).is_some();
        let below = |item: &&&Item| match is_comment {
            true => item.parent.as_deref() == Some(&named),
            false => {
                let of_post = item.post.as_deref().and_then(shown::number) == number;
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
pub(super) fn hide(cx: &Cx) -> Answer {
    inbox::hide(cx, params(cx)?.flag("is_hidden"))
}
