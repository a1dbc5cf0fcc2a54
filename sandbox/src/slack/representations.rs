//! Messages and files as the API answers them, and messages as the control API shows them.

use serde_json::{Value, json};

use super::state::{File, Message, State};
use crate::env::rfc3339;
use crate::network::{Identity, Medium, Post};

/// Formats a timestamp as Slack does.
pub(super) fn ts(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// Parses a timestamp into microseconds.
pub(super) fn micros(ts: &str) -> Option<u64> {
    let (seconds, micros) = ts.split_once('.').unwrap_or((ts, "0"));
    let micros: u64 = format!("{micros:0<6}").get(..6)?.parse().ok()?;
    Some(seconds.parse::<u64>().ok()?.checked_mul(1_000_000)? + micros)
}

/// Returns the address of a message.
pub(super) fn permalink(message: u64, identity: &Identity, base: &str) -> String {
    format!("{base}/archives/{}/p{message}", identity.remote_id)
}

/// Returns the file object.
pub(super) fn file(file: &File) -> Value {
    json!({
        "id": file.id,
        "name": file.name,
        "title": file.title,
        "mimetype": file.medium.as_ref().map(|medium| medium.mime.as_str()),
        "size": file.length,
        "alt_txt": file.alt,
    })
}

/// Returns the message object.
pub(super) fn message(
    state: &State,
    message: &Message,
    identity: &Identity,
    with_metadata: bool,
) -> Value {
    let files = message.files.iter().filter_map(|id| state.files.get(id));
    let escaped = message.text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut shown = json!({
        "type": "message",
        "subtype": "bot_message",
        "ts": ts(message.ts),
        "user": identity.private("bot_user_id"),
        "bot_id": identity.private("bot_id"),
        "team": identity.private("team_id"),
        "text": escaped,
        "blocks": message.blocks,
    });
    if !message.files.is_empty() {
        shown["files"] = json!(files.map(file).collect::<Vec<_>>());
    }
    if let Some(thread) = message.thread {
        shown["thread_ts"] = json!(ts(thread));
    }
    if let Some(metadata) = message.metadata.as_ref().filter(|_| with_metadata) {
        shown["metadata"] = metadata.clone();
    }
    shown
}

/// Returns the message for the control API and the pages.
pub(super) fn post(state: &State, message: &Message, identity: &Identity, base: &str) -> Post {
    let files = message.files.iter().filter_map(|id| state.files.get(id));
    let media: Vec<Medium> = files.filter_map(|file| file.medium.clone()).collect();
    let unfurls = message.unfurls.iter().map(|(name, flag)| (name.clone(), json!(flag)));
    let mut extra = json!({
        "is_markdown": message.is_markdown,
        "blocks": message.blocks,
        "metadata": message.metadata,
        "thread_ts": message.thread.map(ts),
        "reply_broadcast": message.is_broadcast,
    });
    if let Some(extra) = extra.as_object_mut() {
        extra.extend(unfurls);
    }
    Post {
        id: ts(message.ts),
        text: message.text.clone(),
        media,
        created_at: rfc3339(i64::try_from(message.ts / 1_000).unwrap_or_default()),
        url: permalink(message.ts, identity, base),
        extra: extra.as_object().cloned().unwrap_or_default(),
        page: format!("p{}", message.ts),
    }
}
