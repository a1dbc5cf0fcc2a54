//! Messages and comments of pages, and of the Instagram accounts that are linked to them.
//!
//! <https://developers.facebook.com/docs/messenger-platform>, <https://developers.facebook.com/docs/graph-api/reference/comment>

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Graph, access, failure, fields, time};
use crate::mailbox::{Author, Change, Item, ItemFile, ItemKind, Mailbox};
use crate::network::{Cx, Identity};
use crate::params::Params;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// The reply window of a page, and of a human agent, in milliseconds.
const WINDOW_MS: i64 = 24 * 3_600_000;
const HUMAN_MS: i64 = 7 * 24 * 3_600_000;
/// The number of messages of a conversation that are shown.
const SHOWN: usize = 20;

fn empty() -> &'static Mailbox {
    static EMPTY: std::sync::OnceLock<Mailbox> = std::sync::OnceLock::new();
    EMPTY.get_or_init(Mailbox::default)
}

/// Returns the items of an account.
pub(crate) fn mail<N: Graph>(state: &N::State) -> &Mailbox {
    match N::mailbox(state) {
        Some(mail) => mail,
        None => empty(),
    }
}

/// Wraps a change of the items, if the network has any.
pub(crate) fn change<N: Graph>(change: Change) -> Result<N::Change, Reply> {
    N::mailbox_change(change).ok_or_else(|| failure::graph(400, 100, 0, "(#100) No inbox"))
}

/// `GET /{page}/conversations`
pub(crate) fn conversations<N: Graph>(cx: &Cx<N>) -> HandlerResult {
    let account = access::page(cx)?;
    let query = |name: &str| cx.call.query_value(name);
    let with = query("user_id");
    let limit =
        query("limit").and_then(|limit| limit.parse().ok()).unwrap_or(25_usize).clamp(1, 100);
    let from: usize = query("after").and_then(|after| after.parse().ok()).unwrap_or(0);
    let all = account
        .read(|state| threads(mail::<N>(state), &account.identity, N::page_id(&account.identity)));
    let fits = |one: &&Value| with.as_ref().is_none_or(|id| one["_with"] == **id);
    let all: Vec<_> = all.iter().filter(fits).collect();
    let shown = all.iter().skip(from).take(limit);
    let known = ["participants", "messages", "updated_time"];
    let data: Vec<_> = shown
        .map(|one| fields::pick(&cx.call, one, &known, "Conversation"))
        .collect::<Result<_, _>>()?;
    let end = from + data.len();
    let mut reply = json!({"data": data, "paging": {"cursors": {"before": from.to_string(), "after": end.to_string()}}});
    if end < all.len() {
        reply["paging"]["next"] = json!(format!("{}/{}?after={end}", cx.sim.base(), cx.call.path));
    }
    Ok(Reply::ok(&reply))
}

/// Returns the conversations, the one with the latest message first.
fn threads(mail: &Mailbox, owner: &Identity, page: &str) -> Vec<Value> {
    let mut people: Vec<(Author, Vec<&Item>)> = Vec::new();
    for item in mail.visible(ItemKind::Message).into_iter().rev() {
        let Some(with) = &item.with else { continue };
        match people.iter_mut().find(|(person, _)| person.id == with.id) {
            Some((_, items)) => items.push(item),
            None => people.push((with.clone(), vec![item])),
        }
    }
    let us = json!({"id": page, "name": owner.username, "username": owner.username});
    let thread = |(person, items): (Author, Vec<&Item>)| {
        let them = json!({"id": person.id, "name": person.username, "username": person.username});
        let message = |item: &&Item| {
            let mut shown = json!({
                "id": item.id, "created_time": time(item.at_ms), "message": item.text,
                "from": if item.own { &us } else { &them },
                "to": {"data": [if item.own { &them } else { &us }]},
            });
            if !item.attachments.is_empty() {
                let files: Vec<_> = item.attachments.iter().map(listed_file).collect();
                shown["attachments"] = json!({"data": files});
            }
            shown
        };
        let messages: Vec<_> = items.iter().take(SHOWN).map(message).collect();
        json!({
            "id": format!("t_{}", person.id), "_with": person.id,
            "updated_time": items.first().map(|item| time(item.at_ms)),
            "participants": {"data": [them, us]},
            "messages": {"data": messages},
        })
    };
    people.into_iter().map(thread).collect()
}

fn listed_file(file: &ItemFile) -> Value {
    match file.kind.as_str() {
        "image" => json!({"mime_type": "image/jpeg", "image_data": {"url": file.url}}),
        "video" => json!({"mime_type": "video/mp4", "video_data": {"url": file.url}}),
        _ => json!({"mime_type": "application/octet-stream", "file_url": file.url}),
    }
}

/// `POST /{page}/messages`: the echo of a message is delivered before the call is answered.
pub(crate) async fn send<N: Graph>(cx: Arc<Cx<N>>) -> HandlerResult {
    let account = access::page(&cx)?;
    let params = Params::read(&cx.call)
        .map_err(|_| failure::graph(400, 100, 0, "(#100) The body cannot be read"))?;
    let object = |name: &str| params.json(name).and_then(Result::ok).unwrap_or_default();
    let (recipient, message) = (object("recipient"), object("message"));
    let human = params.text("tag").as_deref() == Some("HUMAN_AGENT");
    let now_ms = cx.now_ms();
    let id = format!("m_{}", cx.sim.env.unique_number());
    let attachment = &message["attachment"];
    let file = attachment["payload"]["url"].as_str().map(|url| ItemFile {
        kind: attachment["type"].as_str().unwrap_or("file").to_owned(),
        url: url.to_owned(),
    });
    let item = |with: Author| Item {
        id: id.clone(),
        kind: ItemKind::Message,
        at_ms: now_ms,
        author: own_author::<N>(&account),
        own: true,
        text: message["text"].as_str().unwrap_or_default().to_owned(),
        with: Some(with),
        post: None,
        parent: None,
        attachments: file.clone().into_iter().collect(),
        rating: None,
        hidden: false,
        deleted: false,
        private_reply: false,
        metadata: message["metadata"].as_str().map(str::to_owned),
    };
    if message["text"].as_str().is_none_or(str::is_empty) && file.is_none() {
        return Err(failure::graph(
            400,
            100,
            0,
            "(#100) Message cannot be empty, must provide valid attachment or text",
        ));
    }
    let sent = match recipient["comment_id"].as_str() {
        Some(comment) => private_reply(&cx, &account, comment, item)?,
        None => {
            let to = recipient["id"].as_str().unwrap_or_default().to_owned();
            cx.sim.change(&account, |state| {
                let with = open::<N>(mail::<N>(state), &to, now_ms, human)?;
                let item = item(with);
                Ok((change::<N>(Change::Put(Box::new(item.clone())))?, item))
            })?
        }
    };
    if let Some(body) = N::webhook(&account.identity, &sent, crate::mailbox::ItemEvent::Add, now_ms)
    {
        let _taken = cx.sim.env.meta_webhooks.send(N::NAME, &body).await;
    }
    let recipient = sent.with.map(|with| with.id);
    Ok(Reply::ok(&json!({"recipient_id": recipient, "message_id": id})))
}

fn own_author<N: Graph>(account: &Account<N>) -> Author {
    Author {
        id: N::page_id(&account.identity).to_owned(),
        username: account.identity.username.clone(),
    }
}

/// Returns the recipient, if the reply window is open.
fn open<N: Graph>(mail: &Mailbox, to: &str, now_ms: i64, human: bool) -> Result<Author, Reply> {
    let from_them = mail.visible(ItemKind::Message).into_iter().rev();
    let last = from_them.filter(|item| !item.own).find(|item| item.author.id == to);
    let Some(last) = last else {
        return Err(failure::graph(400, 100, 2_534_014, "(#100) No matching user found"));
    };
    let window = if human { HUMAN_MS } else { WINDOW_MS };
    if now_ms >= last.at_ms + window {
        return Err(closed::<N>());
    }
    Ok(last.author.clone())
}

fn closed<N: Graph>() -> Reply {
    let subcode = if N::NAME == "instagram" { 2_534_022 } else { 2_018_278 };
    let message = "(#10) This message is sent outside of allowed window.";
    failure::graph(400, 10, subcode, message)
}

fn private_reply<N: Graph>(
    cx: &Cx<N>,
    account: &Account<N>,
    comment: &str,
    item: impl FnOnce(Author) -> Item,
) -> Result<Item, Reply> {
    let now_ms = cx.now_ms();
    let item = cx.sim.change(account, |state| {
        let mail = mail::<N>(state);
        let comment = mail.get(comment).filter(|item| item.kind == ItemKind::Comment && !item.own);
        let comment = comment.ok_or_else(|| failure::missing("comment"))?;
        if comment.private_reply {
            let message = "(#10) The comment already has a private reply.";
            return Err(failure::graph(400, 10, 2_534_025, message));
        }
        if now_ms >= comment.at_ms + HUMAN_MS {
            return Err(closed::<N>());
        }
        let item = item(comment.author.clone());
        Ok((change::<N>(Change::PrivateReply { id: comment.id.clone() })?, item))
    })?;
    cx.sim.change(account, |_| Ok((change::<N>(Change::Put(Box::new(item.clone())))?, ())))?;
    Ok(item)
}

/// `POST /{page}/subscribed_apps`
pub(crate) fn subscribe<N: Graph>(cx: &Cx<N>) -> HandlerResult {
    access::page(cx)?;
    Ok(Reply::ok(&json!({"success": true})))
}

/// Creates a reply of the account to a comment; a reply to a reply becomes its sibling.
pub(crate) fn answer<N: Graph>(cx: &Cx<N>, text: &str, id: String) -> HandlerResult {
    let account = access::page(cx)?;
    let segments = cx.call.segments();
    let named = super::below_version(&segments).first().copied().unwrap_or_default().to_owned();
    let now_ms = cx.now_ms();
    let item = cx.sim.change(&account, |state| {
        let parent = mail::<N>(state).get(&named).ok_or_else(|| failure::missing(&named))?;
        if parent.hidden {
            return Err(failure::graph(400, 100, 33, "(#100) The comment is hidden"));
        }
        let item = Item {
            id: id.clone(),
            kind: ItemKind::Comment,
            at_ms: now_ms,
            author: Author { id: account.identity.remote_id.clone(), ..own_author::<N>(&account) },
            own: true,
            text: text.to_owned(),
            with: None,
            post: parent.post.clone(),
            parent: Some(parent.parent.clone().unwrap_or_else(|| parent.id.clone())),
            attachments: Vec::new(),
            rating: None,
            hidden: false,
            deleted: false,
            private_reply: false,
            metadata: None,
        };
        Ok((change::<N>(Change::Put(Box::new(item.clone())))?, item))
    })?;
    deliver_webhook(cx, &account.identity, item, crate::mailbox::ItemEvent::Add);
    Ok(Reply::ok(&json!({ "id": id })))
}

/// Hides or unhides a comment.
pub(crate) fn hide<N: Graph>(cx: &Cx<N>, hidden: bool) -> HandlerResult {
    let verb =
        if hidden { crate::mailbox::ItemEvent::Hide } else { crate::mailbox::ItemEvent::Unhide };
    touch(cx, verb, |id| Change::Hidden { id, hidden })
}

/// Deletes a comment.
pub(crate) fn delete<N: Graph>(cx: &Cx<N>) -> HandlerResult {
    touch(cx, crate::mailbox::ItemEvent::Remove, |id| Change::Deleted { id })
}

fn touch<N: Graph>(
    cx: &Cx<N>,
    verb: crate::mailbox::ItemEvent,
    to: impl FnOnce(String) -> Change,
) -> HandlerResult {
    let account = access::page(cx)?;
    let segments = cx.call.segments();
    let named = super::below_version(&segments).first().copied().unwrap_or_default().to_owned();
    let item = cx.sim.change(&account, |state| {
        let item = mail::<N>(state).get(&named).ok_or_else(|| failure::missing(&named))?;
        if item.own && verb == crate::mailbox::ItemEvent::Hide {
            return Err(failure::graph(403, 200, 0, "(#200) One cannot hide one's own comment"));
        }
        Ok((change::<N>(to(named.clone()))?, item.clone()))
    })?;
    deliver_webhook(cx, &account.identity, item, verb);
    Ok(Reply::ok(&json!({"success": true})))
}

/// Delivers the webhook of an event, in the background.
fn deliver_webhook<N: Graph>(
    cx: &Cx<N>,
    owner: &Identity,
    item: Item,
    verb: crate::mailbox::ItemEvent,
) {
    let Some(body) = N::webhook(owner, &item, verb, cx.now_ms()) else { return };
    let env = Arc::clone(&cx.sim.env);
    tokio::spawn(async move { env.meta_webhooks.deliver(N::NAME, &body).await });
}

/// Returns a message as an entry of a webhook.
pub(crate) fn messaging(
    object: &str,
    account: &str,
    item: &Item,
    deleted: bool,
    now_ms: i64,
) -> Value {
    let them = item.with.as_ref().map(|with| with.id.as_str()).unwrap_or_default();
    let (sender, recipient) = if item.own { (account, them) } else { (them, account) };
    let mut message = json!({"mid": item.id});
    if deleted {
        message["is_deleted"] = json!(true);
    } else {
        message["text"] = json!(item.text);
        let files: Vec<_> = item
            .attachments
            .iter()
            .map(|file| json!({"type": file.kind, "payload": {"url": file.url}}))
            .collect();
        if !files.is_empty() {
            message["attachments"] = json!(files);
        }
    }
    if item.own {
        message["is_echo"] = json!(true);
    }
    if let Some(metadata) = &item.metadata {
        message["metadata"] = json!(metadata);
    }
    let event = json!({
        "sender": {"id": sender}, "recipient": {"id": recipient},
        "timestamp": if deleted { now_ms } else { item.at_ms }, "message": message,
    });
    json!({"object": object, "entry": [{"id": account, "time": now_ms, "messaging": [event]}]})
}
