//! A message as the Bot API returns it, and as the control API shows it.

use serde_json::{Map, Value, json};

use super::chat;
use super::state::{File, Kind, Message, Rest, State};
use crate::env::rfc3339;
use crate::network::{Identity, Medium, Post};

/// Returns the Message object.
pub(super) fn message(message: &Message, identity: &Identity) -> Value {
    let mut shown = json!({
        "message_id": message.id,
        "sender_chat": chat::chat(identity),
        "chat": chat::chat(identity),
        "date": message.at_ms / 1_000,
    });
    let empty = Rest::default();
    let rest = message.rest.as_deref().unwrap_or(&empty);
    let (text, entities) =
        if rest.file.is_some() { ("caption", "caption_entities") } else { ("text", "entities") };
    if !message.text.is_empty() {
        shown[text] = json!(message.text);
    }
    if !message.entities.is_empty() {
        shown[entities] = json!(message.entities);
    }
    if let Some(file) = &rest.file {
        put_file(&mut shown, file);
    }
    let optional = [
        ("poll", &rest.poll),
        ("reply_markup", &rest.keyboard),
        ("link_preview_options", &rest.link_preview),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            shown[name] = value.clone();
        }
    }
    if let Some(group) = &rest.group {
        shown["media_group_id"] = json!(group);
    }
    if let Some(id) = rest.reply_to {
        shown["reply_to_message"] =
            json!({"message_id": id, "chat": chat::chat(identity), "date": 0});
    }
    if rest.spoiler {
        shown["has_media_spoiler"] = json!(true);
    }
    shown
}

fn put_file(shown: &mut Value, file: &File) {
    let unique = file.sha256.get(..16).unwrap_or_default();
    let mut object = json!({"file_id": file.id, "file_unique_id": unique, "file_size": file.size});
    if file.kind == Kind::Photo {
        object["width"] = json!(file.width);
        object["height"] = json!(file.height);
        shown["photo"] = json!([object]);
        return;
    }
    object["mime_type"] = json!(file.mime);
    if let Some(name) = file.name.as_ref().filter(|_| file.kind != Kind::LivePhoto) {
        object["file_name"] = json!(name);
    }
    if file.kind != Kind::Document {
        object["duration"] = json!(file.duration);
    }
    if matches!(file.kind, Kind::Video | Kind::Animation | Kind::LivePhoto) {
        object["width"] = json!(file.width);
        object["height"] = json!(file.height);
    }
    let name = match file.kind {
        Kind::Video => "video",
        Kind::Audio => "audio",
        Kind::LivePhoto => "live_photo",
        Kind::Animation => "animation",
        Kind::Document | Kind::Photo => "document",
    };
    if file.kind == Kind::Animation {
        shown["document"] = object.clone();
    }
    shown[name] = object;
}

/// Returns all posts, oldest first; an album is one post.
pub(super) fn posts(state: &State, identity: &Identity, base: &str) -> Vec<Post> {
    let mut posts: Vec<Post> = Vec::new();
    for message in state.messages.values() {
        let group = message.rest.as_ref().and_then(|rest| rest.group.as_ref());
        let album = posts.last_mut().filter(|last| {
            group.is_some() && last.extra.get("media_group_id") == group.map(|g| json!(g)).as_ref()
        });
        match album {
            Some(album) => join(album, message),
            None => posts.push(post(message, identity, base)),
        }
    }
    posts
}

fn join(album: &mut Post, message: &Message) {
    album.media.extend(medium(message));
    if album.text.is_empty() {
        album.text.clone_from(&message.text);
    }
    if let Some(ids) = album.extra.get_mut("message_ids").and_then(Value::as_array_mut) {
        ids.push(json!(message.id));
    }
}

fn medium(message: &Message) -> Option<Medium> {
    let file = message.rest.as_ref()?.file.as_ref()?;
    // A file that was never fetched has neither.
    let is_known = !file.sha256.is_empty();
    Some(Medium {
        url: file.url.clone(),
        size: is_known.then_some(file.size),
        mime: file.mime.clone(),
        alt: None,
        sha256: is_known.then(|| file.sha256.clone()),
    })
}

fn post(message: &Message, identity: &Identity, base: &str) -> Post {
    let mut extra = Map::new();
    extra.insert("message_ids".into(), json!([message.id]));
    if !message.entities.is_empty() {
        extra.insert("entities".into(), json!(message.entities));
    }
    if let Some(rest) = &message.rest {
        let kind = rest.file.as_ref().map(|file| file.kind);
        let fields = [
            ("kind", json!(kind)),
            ("media_group_id", json!(rest.group)),
            ("poll", json!(rest.poll)),
            ("reply_to", json!(rest.reply_to)),
            ("reply_markup", json!(rest.keyboard)),
            ("link_preview_options", json!(rest.link_preview)),
        ];
        extra.extend(
            fields
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| (name.to_owned(), value)),
        );
        extra.insert("silent".into(), json!(rest.silent));
    }
    let poll = message.rest.as_ref().and_then(|rest| rest.poll.as_ref());
    let question = poll.and_then(|poll| poll["question"].as_str());
    let id = message.id.to_string();
    Post {
        text: question.unwrap_or(&message.text).to_owned(),
        media: medium(message).into_iter().collect(),
        created_at: rfc3339(message.at_ms),
        url: format!("{base}/{}/{id}", identity.username),
        extra,
        page: id.clone(),
        id,
    }
}
