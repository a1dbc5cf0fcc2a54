//! Accounts, media and statuses as the API answers them, and statuses as the control API shows them.

use serde_json::{Value, json};

use super::state::{State, Status, Upload};
use crate::env::rfc3339;
use crate::network::{Identity, Post};
use crate::page::escape;

/// Returns the `Account` object.
pub(super) fn account(identity: &Identity, base: &str) -> Value {
    let picture = format!("{base}/avatars/original/missing.png");
    let header = format!("{base}/headers/original/missing.png");
    json!({
        "id": identity.remote_id,
        "username": identity.username,
        "acct": identity.username,
        "display_name": identity.username.replace('_', " "),
        "note": "",
        "avatar": picture,
        "avatar_static": picture,
        "header": header,
        "header_static": header,
        "locked": false,
        "fields": [],
        "emojis": [],
        "bot": false,
        "group": false,
        "statuses_count": 0,
        "followers_count": 0,
        "following_count": 0,
        "created_at": rfc3339(identity.created_ms),
        "last_status_at": null,
        "roles": [],
        "url": format!("{base}/@{}", identity.username),
    })
}

/// Returns the `MediaAttachment` object; without an address while it is processed.
pub(super) fn medium(upload: &Upload, base: &str, now_ms: i64) -> Value {
    let is_ready = upload.ready_ms <= now_ms;
    let url = format!("{base}/system/media_attachments/files/{}", upload.id);
    let original = upload.size.map(|(width, height)| {
        let aspect = f64::from(width) / f64::from(height.max(1));
        json!({"width": width, "height": height, "size": format!("{width}x{height}"), "aspect": aspect})
    });
    json!({
        "id": upload.id.to_string(),
        "type": upload.kind(),
        "url": is_ready.then_some(&url),
        "preview_url": is_ready.then_some(&url),
        "remote_url": null,
        "description": upload.medium.alt,
        "meta": {"original": original, "focus": upload.focus},
        "blurhash": null,
    })
}

fn url(status: &Status, identity: &Identity, base: &str) -> String {
    format!("{base}/@{}/{}", identity.username, status.id)
}

/// Returns the text as HTML, as the API does.
fn html(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let paragraphs = text.split("\n\n").map(|one| escape(one).replace('\n', "<br />"));
    paragraphs.map(|one| format!("<p>{one}</p>")).collect()
}

/// Returns the `Status` object.
pub(super) fn status(state: &State, status: &Status, identity: &Identity, base: &str) -> Value {
    let media = status.media.iter().filter_map(|id| state.media.get(id));
    let media: Vec<_> = media.map(|upload| medium(upload, base, i64::MAX)).collect();
    let poll = status.poll.as_ref().map(|poll| {
        let options: Vec<_> =
            poll.options.iter().map(|title| json!({"title": title, "votes_count": 0})).collect();
        json!({
            "id": status.id.to_string(),
            "expires_at": rfc3339(poll.expires_ms),
            "expired": false,
            "multiple": poll.multiple,
            "votes_count": 0,
            "options": options,
            "emojis": [],
        })
    });
    let url = url(status, identity, base);
    json!({
        "id": status.id.to_string(),
        "created_at": rfc3339(status.at_ms),
        "edited_at": null,
        "in_reply_to_id": status.in_reply_to.map(|id| id.to_string()),
        "in_reply_to_account_id": null,
        "sensitive": status.sensitive,
        "spoiler_text": status.spoiler_text,
        "visibility": status.visibility,
        "language": status.language,
        "uri": format!("{base}/users/{}/statuses/{}", identity.username, status.id),
        "url": url,
        "content": html(&status.text),
        "account": account(identity, base),
        "application": null,
        "mentions": [],
        "tags": [],
        "emojis": [],
        "card": null,
        "media_attachments": media,
        "poll": poll,
        "quote": status.quoted.map(|id| json!({"state": "accepted", "quoted_status": {"id": id.to_string()}})),
        "reblog": null,
        "favourites_count": 0,
        "reblogs_count": 0,
        "replies_count": 0,
        "quotes_count": 0,
    })
}

/// Returns the status for the control API and the pages.
pub(super) fn post(state: &State, status: &Status, identity: &Identity, base: &str) -> Post {
    let media = status.media.iter().filter_map(|id| state.media.get(id));
    let poll = status.poll.as_ref();
    let extra = json!({
        "visibility": status.visibility,
        "spoiler_text": status.spoiler_text,
        "sensitive": status.sensitive,
        "language": status.language,
        "quoted_status_id": status.quoted.map(|id| id.to_string()),
        "poll": poll.map(|poll| json!({"options": poll.options, "multiple": poll.multiple, "hide_totals": poll.hide_totals})),
    });
    Post {
        id: status.id.to_string(),
        text: status.text.clone(),
        media: media.map(|upload| upload.medium.clone()).collect(),
        created_at: rfc3339(status.at_ms),
        url: url(status, identity, base),
        extra: extra.as_object().cloned().unwrap_or_default(),
        page: status.id.to_string(),
    }
}
