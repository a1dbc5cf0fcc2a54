//! Telegram's errors: `{"ok": false, "error_code", "description", "parameters"}`.

use std::time::Duration;

use fanfare_outbound::Reply;
use serde::Deserialize;

use crate::{Error, ErrorKind};

#[derive(Deserialize, Default)]
#[serde(default)]
struct Body {
    error_code: Option<u16>,
    description: Option<String>,
    parameters: Parameters,
}

/// <https://core.telegram.org/bots/api#responseparameters>
#[derive(Deserialize, Default)]
#[serde(default)]
struct Parameters {
    /// Seconds.
    retry_after: Option<u64>,
    migrate_to_chat_id: Option<i64>,
}

/// Parts of descriptions (in lower case) of errors about a file.
const MEDIA: &[&str] = &[
    "wrong file identifier",
    "failed to get http url content",
    "wrong type of the web page content",
    "wrong remote file",
    "file is too big",
    "image_process_failed",
    "photo_",
    "video_",
    "media_empty",
    "media_invalid",
    "webpage_",
    "file_",
    "wrong file_id",
    "file must be non-empty",
    "there is no photo in the request",
    "there is no video in the request",
    "there is no animation in the request",
    "unsupported url protocol",
    "media_group",
    "_content_type_invalid",
    "image_",
];

/// Parts of descriptions of errors about a missing right.
const RIGHTS: &[&str] = &[
    "not enough rights",
    "have no rights",
    "need administrator rights",
    "chat_write_forbidden",
    "chat_admin_required",
    "have no write access",
    "_forbidden",
    "topic_closed",
    "chat_restricted",
    "channel_private",
    "not allowed to send",
];

/// Parts of descriptions of errors about the text, what stands below it, or what the call names
/// (<https://github.com/TelegramBotAPI/errors>, and the names of <https://core.telegram.org/api/errors>).
const TEXT: &[&str] = &[
    "is too long",
    "_too_long",
    "text is empty",
    "message_empty",
    "must be non-empty",
    "must be encoded in utf-8",
    "entities",
    "entity_",
    "button",
    "keyboard",
    "message to be replied not found",
    "message to reply not found",
    "message thread not found",
    "reply_message_id_invalid",
    "wrong parameter",
    "invalid parameter",
    "can't parse",
    "wrong http url",
    "peer_id_invalid",
    "too much messages to send as an album",
    "poll",
    "topic_deleted",
    "group chat was deactivated",
];

/// Converts a response that is not a success into an error.
pub(super) fn parse_error(reply: &Reply) -> Error {
    let body = serde_json::from_slice::<Body>(&reply.body).unwrap_or_default();
    let code = body.error_code.map(|code| code.to_string());
    classify(reply, &body).with_reply(reply.status, code.as_deref(), body.description.as_deref())
}

/// Returns the new id of a chat that the answer says has moved.
pub(super) fn new_chat_id(reply: &Reply) -> Option<i64> {
    let body = serde_json::from_slice::<Body>(&reply.body).ok()?;
    body.parameters.migrate_to_chat_id
}

fn classify(reply: &Reply, body: &Body) -> Error {
    if let Some(chat_id) = body.parameters.migrate_to_chat_id {
        // The account goes on with the new id, as with a token that was renewed.
        return Error::new(
            ErrorKind::TokenExpired,
            "The group became a supergroup and has a new id.",
        )
        .with_remedy(format!("Connect the account again with the chat_id {chat_id}."))
        .nothing_done();
    }
    match body.error_code.unwrap_or(reply.status) {
        429 => Error::new(ErrorKind::RateLimited, "Telegram asks to slow down.")
            .with_retry_after(retry_after(reply, body)),
        500.. => Error::new(ErrorKind::Server, "Telegram answered with an error of its own."),
        408 => Error::new(ErrorKind::Ambiguous, "Telegram did not get the request in time."),
        409 => Error::transient("Telegram is busy with another request of this bot.").nothing_done(),
        413 => Error::media_rejected("A file is too large for Telegram."),
        401 | 404 => Error::reconnect("Telegram no longer accepts the bot's token.")
            .with_remedy("Get the current token from @BotFather and connect the account again."),
        403 => Error::reconnect("The bot is not a member of the chat, or was removed from it.")
            .with_remedy("Add the bot to the chat (to a channel as administrator) and connect the account again."),
        300..=399 => Error::target_gone("Telegram answered with a redirect."),
        _ => bad_request(&body.description.as_deref().unwrap_or_default().to_ascii_lowercase()),
    }
}

/// The words with which Telegram refuses an album in the middle, and those of a limit within them:
/// `failed to send message #3 with the error message "Too Many Requests: retry after 8"`.
const IN_ALBUM: &str = "failed to send message #";
const RETRY_AFTER: &str = "too many requests: retry after ";

/// Returns the number of messages of an album that went out before the one that was refused.
pub(super) fn messages_sent_before(error: &Error) -> Option<usize> {
    let said = error.reply.as_ref()?.message.as_ref()?.to_ascii_lowercase();
    number_after(&said, IN_ALBUM)?.checked_sub(1)?.try_into().ok()
}

fn number_after(text: &str, words: &str) -> Option<u64> {
    let rest = &text[text.find(words)? + words.len()..];
    let end = rest.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// Converts a 400, whose reason is only in the description.
fn bad_request(description: &str) -> Error {
    if let Some(seconds) = number_after(description, RETRY_AFTER) {
        return Error::new(ErrorKind::RateLimited, "Telegram asks to slow down.")
            .with_retry_after(Some(Duration::from_secs(seconds)));
    }
    let speaks_of = |words: &[&str]| words.iter().any(|word| description.contains(word));
    if description.contains("chat not found") {
        return Error::reconnect("Telegram does not find the chat.").with_remedy(
            "Add the bot to the chat, check the chat_id and connect the account again.",
        );
    }
    if speaks_of(RIGHTS) {
        return Error::permission_missing("The bot may not post in the chat.")
            .with_remedy(
                "Give the bot the right to post messages and media in the chat's settings.",
            )
            .nothing_done();
    }
    if speaks_of(MEDIA) {
        return Error::media_rejected("Telegram refuses a file of the post.");
    }
    if description.contains("can't parse entities") {
        return Error::rejected("Telegram cannot read the markup of the caption.")
            .with_remedy("Correct the caption, or leave out settings.parse_mode.");
    }
    let error = Error::rejected("Telegram refuses the message.");
    if speaks_of(TEXT) { error } else { error.left_open() }
}

fn retry_after(reply: &Reply, body: &Body) -> Option<Duration> {
    body.parameters.retry_after.map(Duration::from_secs).or_else(|| reply.retry_after())
}
