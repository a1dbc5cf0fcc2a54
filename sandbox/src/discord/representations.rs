//! A message as the API returns it, and as the control API shows it.

use serde_json::{Map, Value, json};

use super::payload::mentions_everyone;
use super::state::{Attachment, Message};
use crate::env::rfc3339;
use crate::network::{Identity, Medium, Post};

/// Returns the message object.
pub(super) fn message(message: &Message, identity: &Identity, base: &str) -> Value {
    let rest = message.rest.as_deref().cloned().unwrap_or_default();
    let attachments: Vec<_> =
        message.attachments.iter().map(|a| attachment(a, identity, base)).collect();
    // A thread is a channel of its own.
    let thread = message.thread.as_ref().map(|thread| thread.id.to_string());
    let channel = thread.unwrap_or_else(|| identity.private("channel_id").to_owned());
    let mut shown = json!({
        "id": message.id.to_string(),
        "type": 0,
        "channel_id": channel,
        "webhook_id": identity.remote_id,
        "author": {
            "id": identity.remote_id,
            "username": rest.username.as_ref().unwrap_or(&identity.username),
            "avatar": null,
            "discriminator": "0000",
            "public_flags": 0,
            "flags": 0,
            "bot": true,
            "global_name": null,
            "primary_guild": null,
        },
        "content": message.content,
        "timestamp": rfc3339(message.at_ms),
        "edited_timestamp": message.edited_ms.map(rfc3339),
        "attachments": attachments,
        "embeds": rest.embeds,
        "components": [],
        "mentions": [],
        "mention_roles": [],
        "mention_everyone": mentions_everyone(message),
        "pinned": false,
        "tts": rest.tts,
        "flags": rest.flags,
    });
    if let Some(poll) = rest.poll {
        shown["poll"] = poll;
    }
    shown
}

fn attachment(attachment: &Attachment, identity: &Identity, base: &str) -> Value {
    let url = format!(
        "{base}/attachments/{}/{}/{}",
        identity.private("channel_id"),
        attachment.id,
        attachment.filename
    );
    let mut shown = json!({
        "id": attachment.id.to_string(),
        "filename": attachment.filename,
        "size": attachment.size,
        "content_type": attachment.mime,
        "url": url,
        "proxy_url": url,
    });
    if let Some(text) = &attachment.description {
        shown["description"] = json!(text);
    }
    if let Some((width, height)) = attachment.dimensions {
        shown["width"] = json!(width);
        shown["height"] = json!(height);
    }
    shown
}

/// Returns the message for the control API and the pages.
pub(super) fn post(message: &Message, identity: &Identity, base: &str) -> Post {
    let mut extra = Map::new();
    extra.insert("mention_everyone".into(), json!(mentions_everyone(message)));
    if let Some(allowed) = &message.allowed_mentions {
        extra.insert("allowed_mentions".into(), (**allowed).clone());
    }
    if let Some(ms) = message.edited_ms {
        extra.insert("edited_at".into(), json!(rfc3339(ms)));
    }
    if let Some(rest) = &message.rest {
        extra.insert("username".into(), json!(rest.username));
        extra.insert("avatar_url".into(), json!(rest.avatar_url));
        extra.insert("embeds".into(), json!(rest.embeds));
        extra.insert("poll".into(), json!(rest.poll));
        extra.insert("flags".into(), json!(rest.flags));
    }
    if let Some(thread) = &message.thread {
        extra.insert("thread_id".into(), json!(thread.id.to_string()));
        extra.insert("thread_name".into(), json!(thread.name));
    }
    let media = message.attachments.iter().map(medium);
    let id = message.id.to_string();
    Post {
        text: message.content.clone(),
        media: media.collect(),
        created_at: rfc3339(message.at_ms),
        url: format!(
            "{base}/channels/{}/{}/{id}",
            identity.private("guild_id"),
            identity.private("channel_id")
        ),
        extra,
        page: id.clone(),
        id,
    }
}

fn medium(attachment: &Attachment) -> Medium {
    let is_known = attachment.source.is_none();
    Medium {
        url: attachment.source.clone(),
        size: is_known.then_some(attachment.size),
        mime: attachment.mime.clone(),
        alt: attachment.description.clone(),
        sha256: is_known.then(|| attachment.sha256.clone()),
    }
}
