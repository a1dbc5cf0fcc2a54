//! Checks a reply before anything is written.

use fanfare_core::{
    Act,
    clock::Time,
    error::refusal::RefusalDetails,
    error::{Code, Error, Result, Violations, violation},
};
use fanfare_entities::{inbox_comment, inbox_conversation};
use fanfare_platforms::{InboxRules, MessageFile};
use url::Url;

use super::super::{ActionContext, InboxAction, comment_state};
use super::MessageReply;

/// Fails unless the conversation can be replied to.
pub(super) fn require_open(
    asking: &ActionContext,
    row: &inbox_conversation::Model,
    human: bool,
) -> Result<()> {
    if asking.conversation(row.last_inbound_at, human).contains(&InboxAction::Reply) {
        return Ok(());
    }
    if !asking.connected {
        return Err(reconnect());
    }
    let reply_until = asking.reply_until(row.last_inbound_at, human);
    let message = "The time for an answer is over: the person has to write again first.";
    Err(Error::new(Code::ReplyWindowClosed, message).with_details(RefusalDetails {
        reply_until: reply_until.map(Time),
        ..RefusalDetails::default()
    }))
}

/// Returns the network's id of a comment, if this action is possible with it.
pub(in crate::inbox) fn require(
    asking: &ActionContext,
    row: &inbox_comment::Model,
    wanted: InboxAction,
) -> Result<String> {
    let can = asking.comment(&comment_state(row));
    match &row.remote_id {
        Some(id) if can.contains(&wanted) => Ok(id.clone()),
        _ if !asking.connected => Err(reconnect()),
        _ => {
            let message = "This cannot be done with the comment now.";
            Err(Error::new(Code::ActionNotAllowed, message)
                .with_details(RefusalDetails { can: Some(can), ..RefusalDetails::default() }))
        }
    }
}

pub(in crate::inbox) fn reconnect() -> Error {
    let message = "The account must be connected again first.";
    Error::new(Code::AccountReconnectRequired, message)
}

/// Returns the text or the file of a reply.
pub(super) fn content(
    act: &Act,
    reply: &MessageReply,
    rules: InboxRules,
) -> Result<(Option<String>, Option<MessageFile>)> {
    let mut broken = Violations::default();
    let text = reply.text.as_deref().filter(|text| !fanfare_platforms::text::is_blank(text));
    match (text, &reply.media_url) {
        (Some(_), Some(_)) => broken.push(violation(
            Code::TooManyParts,
            "media_url",
            "A message holds a text or a file, not both.",
            "Send two replies.",
        )),
        (None, None) => broken.push(violation(
            Code::FieldRequired,
            "text",
            "text or media_url is required.",
            "Send one of them.",
        )),
        (Some(text), None) => check_text(&mut broken, text, rules.message_max),
        (None, Some(_)) => {}
    }
    if reply.human_agent == Some(true) && !crate::settings(&act.cx).meta.human_agent {
        broken.push(violation(
            Code::InvalidField,
            "human_agent",
            "This service may not send answers after the first day.",
            "Leave human_agent out, or ask the operator to set FANFARE_META_HUMAN_AGENT.",
        ));
    }
    let file = reply.media_url.as_deref().map(file);
    if let Some(None) = file {
        let message = "media_url is no address of a file.";
        let remedy = "Send an address that begins with http:// or https://.";
        broken.push(violation(Code::InvalidField, "media_url", message, remedy));
    }
    Error::check(broken)?;
    Ok((text.map(str::to_owned), file.flatten()))
}

/// Returns the file at an address; its type is detected from its name.
fn file(url: &str) -> Option<MessageFile> {
    let parsed = Url::parse(url).ok()?;
    if !matches!(parsed.scheme(), "http" | "https") || parsed.host().is_none() {
        return None;
    }
    let end = parsed.path().rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let mime = match end.as_str() {
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "mp4" => "video/mp4",
        "mov" => "video/quicktime",
        "mp3" => "audio/mpeg",
        "m4a" => "audio/mp4",
        "wav" => "audio/wav",
        _ => "application/octet-stream",
    };
    Some(MessageFile { url: url.to_owned(), mime: mime.to_owned() })
}

pub(super) fn check_text(broken: &mut Violations, text: &str, (most, bytes): (usize, bool)) {
    let (length, unit) =
        if bytes { (text.len(), "bytes") } else { (text.chars().count(), "characters") };
    if length > most {
        let message = format!("The text has {length} {unit}; the network takes {most}.");
        let long = violation(Code::InvalidField, "text", message, "Shorten the text.");
        broken.push(long.with_limit(most, length).in_unit(unit));
    }
}
