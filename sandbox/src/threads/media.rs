//! Posts and containers by their id, with the requested fields.

use std::sync::Arc;

use serde_json::{Value, json};

use super::state::{MediaType, Published};
use super::{Cx, Threads, access, below_version, failure, inbox, representations, user};
use crate::call::Call;
use crate::env::utc;
use crate::graph::containers::Status;
use crate::graph::fields;
use crate::network::Identity;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// Returns a post and its account; the caller's own posts are searched first.
pub(super) fn find(cx: &Cx, id: u64) -> Option<(Arc<Account<Threads>>, Published)> {
    let of = |account: Arc<Account<Threads>>| {
        let post = account.read(|state| state.made.posts.get(&id).cloned())?;
        Some((account, post))
    };
    cx.account.clone().and_then(of).or_else(|| cx.sim.all().into_iter().find_map(of))
}

/// `GET /{id}`: a post, a container or the user.
pub(super) fn get(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let segments = cx.call.segments();
    let id = below_version(&segments).first().copied().unwrap_or_default();
    if id == account.identity.remote_id {
        return user::me(cx);
    }
    let missing = || failure::missing(id);
    let number: u64 = id.parse().map_err(|_| missing())?;
    let now_ms = cx.now_ms();
    let container = account.read(|state| {
        let container = state.made.containers.get(&number)?;
        let status = state.made.status(container, now_ms);
        let mut shown = json!({"id": id, "status": status.code()});
        if let Status::Error(flaw) = status {
            shown["error_message"] = json!(flaw);
        }
        Some(shown)
    });
    if let Some(container) = container {
        return Ok(Reply::ok(&fields::pick(
            &cx.call,
            &container,
            &["status", "error_message"],
            "ThreadsMediaContainer",
        )?));
    }
    let (owner, post) = find(cx, number).ok_or_else(missing)?;
    if owner.identity.remote_id != account.identity.remote_id && !is_reply_to(&account, &post) {
        return Err(missing());
    }
    Ok(Reply::ok(&pick(&cx.call, &view(cx, &owner.identity, &post), "ThreadsMedia")?))
}

fn is_reply_to(account: &Account<Threads>, post: &Published) -> bool {
    post.content.reply_to.is_some_and(|to| account.read(|state| state.made.posts.contains_key(&to)))
}

/// `DELETE /{id}`
pub(super) fn delete(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let segments = cx.call.segments();
    let id = below_version(&segments).first().copied().unwrap_or_default().to_owned();
    cx.sim.change(&account, |state| {
        let found = id.parse().ok().filter(|id| state.made.posts.contains_key(id));
        let id = found.ok_or_else(|| failure::missing(&id))?;
        Ok((super::state::Change::Deleted { id }, ()))
    })?;
    Ok(Reply::ok(&json!({"success": true, "deleted_id": id})))
}

/// Returns all fields of a post.
pub(super) fn view(cx: &Cx, owner: &Identity, post: &Published) -> Value {
    let content = &post.content;
    let kind = match content.media_type {
        MediaType::Text => "TEXT_POST",
        MediaType::Image => "IMAGE",
        MediaType::Video => "VIDEO",
        MediaType::Carousel => "CAROUSEL_ALBUM",
    };
    let replied_to = content.reply_to.and_then(|to| find(cx, to));
    let mut view = json!({
        "id": post.id.to_string(),
        "media_product_type": "THREADS",
        "media_type": kind,
        "permalink": representations::permalink(&cx.sim.base(), owner, post.id),
        "owner": {"id": owner.remote_id},
        "username": owner.username,
        "text": content.text,
        "timestamp": utc(post.at_ms).format("%Y-%m-%dT%H:%M:%S+0000").to_string(),
        "shortcode": post.shortcode,
        "is_quote_post": content.quote.is_some(),
        "is_reply": content.reply_to.is_some(),
        "is_reply_owned_by_me": content.reply_to.is_some()
            && cx.account.as_ref().is_some_and(|caller| caller.identity.remote_id == owner.remote_id),
        "has_replies": answered(cx, post.id),
        "hide_status": "NOT_HUSHED",
        "reply_audience": content.extra.get("reply_control").and_then(Value::as_str).unwrap_or("everyone").to_uppercase(),
    });
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            view[name] = value;
        }
    };
    put("media_url", json!(content.medium.as_ref().and_then(|medium| medium.url.as_ref())));
    put("alt_text", json!(content.medium.as_ref().and_then(|medium| medium.alt.as_ref())));
    if let Some(to) = content.reply_to {
        put("replied_to", json!({"id": to.to_string()}));
        let root = match replied_to {
            Some((_, parent)) => Some(root(cx, parent).to_string()),
            None => inbox::root_of(cx, to),
        };
        put("root_post", json!({ "id": root }));
    }
    if content.media_type == MediaType::Carousel {
        let of_video = |id: &u64| {
            let owner = cx.sim.account(&owner.remote_id)?;
            owner.read(|state| {
                let item = state.made.containers.get(id)?;
                Some(item.content.media_type == MediaType::Video)
            })
        };
        let child = |id: &u64| {
            let kind = if of_video(id) == Some(true) { "VIDEO" } else { "IMAGE" };
            json!({"id": id.to_string(), "media_type": kind})
        };
        let children: Vec<_> = content.children.iter().map(child).collect();
        put("children", json!({"data": children}));
    }
    if let Some(id) = content.quote {
        put("quoted_post", json!({"id": id.to_string()}));
    }
    for (name, shown) in [
        ("topic_tag", "topic_tag"),
        ("link_attachment", "link_attachment_url"),
        ("poll_attachment", "poll_attachment"),
        ("text_attachment", "text_attachment"),
        ("gif_attachment", "gif_attachment"),
        ("is_spoiler_media", "is_spoiler_media"),
    ] {
        put(shown, content.extra.get(name).cloned().unwrap_or_default());
    }
    view
}

fn answered(cx: &Cx, id: u64) -> bool {
    let answers = |account: &Arc<Account<Threads>>| {
        account
            .read(|state| state.made.posts.values().any(|post| post.content.reply_to == Some(id)))
    };
    cx.sim.all().iter().any(answers)
}

fn root(cx: &Cx, mut post: Published) -> u64 {
    while let Some((_, parent)) = post.content.reply_to.and_then(|to| find(cx, to)) {
        post = parent;
    }
    post.id
}

/// Known fields of a post, which it may lack.
const FIELDS: [&str; 16] = [
    "media_url",
    "alt_text",
    "replied_to",
    "root_post",
    "children",
    "quoted_post",
    "topic_tag",
    "link_attachment_url",
    "poll_attachment",
    "text_attachment",
    "gif_attachment",
    "gif_url",
    "is_spoiler_media",
    "thumbnail_url",
    "reposted_post",
    "reply_approval_status",
];

/// Returns the id and the fields that the request names.
pub(super) fn pick(call: &Call, whole: &Value, node: &str) -> Result<Value, Reply> {
    fields::pick(call, whole, &FIELDS, node)
}
