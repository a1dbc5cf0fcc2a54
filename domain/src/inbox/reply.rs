//! Answers to conversations and comments.

use fanfare_entities::{
    CommentId, ConversationId, MessageId, account, inbox_comment, inbox_conversation,
    inbox_message::{self, ItemStatus},
    outgoing,
    outgoing::OutgoingStatus,
};
use fanfare_platforms::{Attachment, Change, InboxRules, MessageFile};
use schemars::JsonSchema;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::Url;
use uuid::Uuid;

use super::{
    Asking, Can, Comment, Message, OneMessage, asking, comments, conversations, files, no_comment,
    no_conversation, state, visible_comments, visible_conversations,
};
use crate::{
    Act, Reply, Tx,
    clock::Time,
    error::{Code, Error, Result, Violations, violation},
    outgoing::{self as changes, NewOutgoing, Target},
    refusal::Details,
};

/// An answer to a conversation: a text or a file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageReply {
    /// The text.
    #[serde(default)]
    #[schemars(length(max = 10_000))]
    pub text: Option<String>,
    /// Public address of an image, video, audio or other file, in place of a text.
    #[serde(default)]
    #[schemars(length(max = 2_000))]
    pub media_url: Option<String>,
    /// A person wrote it: it may be sent up to 7 days after the person's last message. Meta must allow the service this.
    #[serde(default)]
    pub human_agent: Option<bool>,
    /// Send it although the same may have been sent a moment ago.
    #[serde(default)]
    pub acknowledge_duplicate_risk: Option<bool>,
}

/// An answer to a comment.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentReply {
    /// The text.
    #[schemars(length(max = 10_000))]
    pub text: String,
    /// Answer with a direct message, which a comment allows once, within 7 days, on Instagram.
    #[serde(default)]
    pub private: Option<bool>,
    /// Send it although the same may have been sent a moment ago.
    #[serde(default)]
    pub acknowledge_duplicate_risk: Option<bool>,
}

/// What an answer to a comment made.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReplyMade {
    /// The answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<Comment>,
    /// With `private`: the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

/// Answers a conversation. 201 once the network has the answer, 202 while that is not known.
///
/// # Errors
/// [`Code::ConversationNotFound`], [`Code::ReplyWindowClosed`], [`Code::DuplicateRisk`], or why the network refuses.
pub async fn to_conversation(
    act: &Act,
    id: ConversationId,
    reply: MessageReply,
) -> Result<Reply<OneMessage>> {
    let (_, account) = conversations::find(act, id).await?;
    if let Some(earlier) = changes::of_request(act).await? {
        return message_answer(act, earlier).await;
    }
    let rules = super::rules(&account).ok_or_else(|| no_conversation(id))?;
    let human = reply.human_agent.unwrap_or(false);
    let (text, file) = content(act, &reply, rules)?;
    let mut tx = act.begin().await?;
    let row = visible_conversations(act)
        .filter(inbox_conversation::Column::Id.eq(id))
        .lock_exclusive()
        .one(tx.conn())
        .await?
        .ok_or_else(|| no_conversation(id))?;
    let asking = asking(act, &account);
    require_open(&asking, &row, human)?;
    let usual = asking.conversation(row.last_inbound_at, false).contains(&Can::Reply);
    let change = Change::Message {
        to: row.participant_id.clone(),
        text: text.clone(),
        file: file.clone(),
        human_agent: human && !usual,
        mark: changes::mark(Uuid::now_v7()),
    };
    let scope = format!("conversation:{id}");
    if !reply.acknowledge_duplicate_risk.unwrap_or(false) {
        changes::refuse_duplicate(act, tx.conn(), &scope, &change).await?;
    }
    let message = insert_message(&mut tx, &row, text, file.as_ref()).await?;
    let target = Target::Message(message);
    let row = insert(act, tx.conn(), &account, (target, scope, change)).await?;
    tx.commit().await?;
    let row = changes::in_request(&act.cx, row).await?;
    message_answer(act, row).await
}

/// Fails unless the conversation can be answered.
fn require_open(asking: &Asking, row: &inbox_conversation::Model, human: bool) -> Result<()> {
    if asking.conversation(row.last_inbound_at, human).contains(&Can::Reply) {
        return Ok(());
    }
    if !asking.connected {
        return Err(reconnect());
    }
    let reply_until = asking.reply_until(row.last_inbound_at, human);
    let message = "The time for an answer is over: the person has to write again first.";
    Err(Error::new(Code::ReplyWindowClosed, message)
        .with(Details { reply_until: reply_until.map(Time), ..Details::default() }))
}

pub(super) fn reconnect() -> Error {
    let message = "The account must be connected again first.";
    Error::new(Code::AccountReconnectRequired, message)
}

/// The text or the file of an answer.
fn content(
    act: &Act,
    reply: &MessageReply,
    rules: InboxRules,
) -> Result<(Option<String>, Option<MessageFile>)> {
    let mut broken = Violations::default();
    let text = reply.text.as_deref().filter(|text| !text.trim().is_empty());
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
    if reply.human_agent == Some(true) && !act.cx.settings.meta.human_agent {
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

/// The file at an address; its type is known by its name.
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

fn check_text(broken: &mut Violations, text: &str, (most, bytes): (usize, bool)) {
    let (length, unit) =
        if bytes { (text.len(), "bytes") } else { (text.chars().count(), "characters") };
    if length > most {
        let message = format!("The text has {length} {unit}; the network takes {most}.");
        broken.push(violation(Code::InvalidField, "text", message, "Shorten the text."));
    }
}

async fn insert_message(
    tx: &mut Tx,
    conversation: &inbox_conversation::Model,
    text: Option<String>,
    file: Option<&MessageFile>,
) -> Result<MessageId> {
    let now = tx.now();
    let kind = |file: &MessageFile| match file.mime.split('/').next() {
        Some(kind @ ("image" | "video" | "audio")) => kind.to_owned(),
        _ => "file".to_owned(),
    };
    let sent: Vec<_> = file
        .map(|file| Attachment { kind: kind(file), url: Some(file.url.clone()) })
        .into_iter()
        .collect();
    let row = inbox_message::ActiveModel {
        workspace_id: Set(conversation.workspace_id),
        account_id: Set(conversation.account_id),
        conversation_id: Set(conversation.id),
        outbound: Set(true),
        text: Set(text.unwrap_or_default()),
        attachments: Set(files::stored(&sent)),
        status: Set(ItemStatus::Sending),
        deleted: Set(false),
        // It stands behind what it answers, even if the network's clock is ahead of ours.
        sent_at: Set(now.max(conversation.last_at + 1)),
        created_at: Set(now),
        ..Default::default()
    };
    let made = inbox_message::Entity::insert(row).exec_with_returning(tx.conn()).await?;
    files::expect(tx, files::of_message(&made), &sent).await?;
    Ok(made.id)
}

async fn insert<C: ConnectionTrait>(
    act: &Act,
    conn: &C,
    account: &account::Model,
    (target, scope, change): (Target, String, Change),
) -> Result<outgoing::Model> {
    let (workspace_id, account_id) = (account.workspace_id, account.id);
    changes::insert(act, conn, NewOutgoing { workspace_id, account_id, target, scope, change })
        .await
}

/// The answer for a change: 201, 202, or why it failed.
async fn message_answer(act: &Act, row: outgoing::Model) -> Result<Reply<OneMessage>> {
    let status = status(&row)?;
    let message = conversations::message(act, MessageId(row.target_id)).await?;
    finish(act, Reply::ok(&OneMessage { message }).with_status(status)).await
}

/// 201 once the network has it, 202 while that is not known.
pub(crate) fn status(row: &outgoing::Model) -> Result<u16> {
    match (row.status, &row.error) {
        (OutgoingStatus::Sent, _) => Ok(201),
        (OutgoingStatus::Failed, Some(failure)) => Err(changes::error(failure)),
        _ => Ok(202),
    }
}

/// Keeps the answer for the request's key. What is still open is answered anew when it is asked again.
pub(crate) async fn finish<T>(act: &Act, mut reply: Reply<T>) -> Result<Reply<T>> {
    if reply.status == 202 {
        reply.poll_after = Some(5);
    }
    let tx = act.begin().await?;
    act.finish(tx, reply).await
}

/// Answers a comment in public or by a direct message. 201 once the network has the answer, 202 while that is not known.
///
/// # Errors
/// [`Code::CommentNotFound`], [`Code::PrivateReplyNotSupported`], [`Code::ActionNotAllowed`], [`Code::DuplicateRisk`], or why
/// the network refuses.
pub async fn to_comment(act: &Act, id: CommentId, reply: CommentReply) -> Result<Reply<ReplyMade>> {
    let (_, account) = comments::find(act, id).await?;
    if let Some(earlier) = changes::of_request(act).await? {
        return reply_answer(act, earlier).await;
    }
    let rules = super::rules(&account).ok_or_else(|| no_comment(id))?;
    let private = reply.private.unwrap_or(false);
    if private && !rules.private_replies {
        let message = "This network has no private answers to comments.";
        let remedy = "Leave `private` out to answer in public.";
        return Err(Error::field(Code::PrivateReplyNotSupported, "private", message, remedy));
    }
    let mut broken = Violations::default();
    if reply.text.trim().is_empty() {
        let message = "text is required.";
        broken.push(violation(Code::FieldRequired, "text", message, "Send the answer's text."));
    }
    let most = if private { rules.message_max } else { (rules.comment_max, false) };
    check_text(&mut broken, &reply.text, most);
    Error::check(broken)?;
    let mut tx = act.begin().await?;
    if private {
        // It locks the comment and its author's conversation, as the arrival of messages does.
        super::inbound::lock(&tx, account.id).await?;
    }
    let row = visible_comments(act)
        .filter(inbox_comment::Column::Id.eq(id))
        .lock_exclusive()
        .one(tx.conn())
        .await?
        .ok_or_else(|| no_comment(id))?;
    let wanted = if private { Can::PrivateReply } else { Can::Reply };
    let remote_id = require(&asking(act, &account), &row, wanted)?;
    let (text, scope) = (reply.text.clone(), format!("comment:{id}"));
    let change = match private {
        true => Change::PrivateReply { comment: remote_id, text },
        false => Change::Reply { comment: remote_id, text },
    };
    if !reply.acknowledge_duplicate_risk.unwrap_or(false) {
        changes::refuse_duplicate(act, tx.conn(), &scope, &change).await?;
    }
    let target = if private {
        let conversation = super::store::conversation_with(&tx, &account, &row).await?;
        let text = Some(reply.text);
        Target::Message(insert_message(&mut tx, &conversation, text, None).await?)
    } else {
        Target::Reply(insert_reply(act, tx.conn(), &account, &row, reply.text).await?)
    };
    let row = insert(act, tx.conn(), &account, (target, scope, change)).await?;
    tx.commit().await?;
    let row = changes::in_request(&act.cx, row).await?;
    reply_answer(act, row).await
}

/// The network's id of a comment, if this can be done with it.
pub(super) fn require(asking: &Asking, row: &inbox_comment::Model, wanted: Can) -> Result<String> {
    let can = asking.comment(&state(row));
    match &row.remote_id {
        Some(id) if can.contains(&wanted) => Ok(id.clone()),
        _ if !asking.connected => Err(reconnect()),
        _ => {
            let message = "This cannot be done with the comment now.";
            Err(Error::new(Code::ActionNotAllowed, message)
                .with(Details { can: Some(can), ..Details::default() }))
        }
    }
}

async fn insert_reply<C: ConnectionTrait>(
    act: &Act,
    conn: &C,
    account: &account::Model,
    parent: &inbox_comment::Model,
    text: String,
) -> Result<CommentId> {
    let now = act.cx.clock.now();
    let row = inbox_comment::ActiveModel {
        workspace_id: Set(account.workspace_id),
        account_id: Set(account.id),
        post_id: Set(parent.post_id),
        platform_post_id: Set(parent.platform_post_id.clone()),
        parent_id: Set(Some(parent.id)),
        parent_remote_id: Set(parent.remote_id.clone()),
        author_id: Set(Some(account.remote_id.clone())),
        author_username: Set(Some(account.username.clone())),
        author_name: Set(account.display_name.clone()),
        own: Set(true),
        text: Set(text),
        attachments: Set(json!([])),
        hidden: Set(false),
        deleted: Set(false),
        unanswered: Set(false),
        private_replied: Set(false),
        status: Set(Some(ItemStatus::Sending)),
        commented_at: Set(now),
        changed_at: Set(now),
        created_at: Set(now),
        ..Default::default()
    };
    Ok(inbox_comment::Entity::insert(row).exec_with_returning(conn).await?.id)
}

async fn reply_answer(act: &Act, row: outgoing::Model) -> Result<Reply<ReplyMade>> {
    let status = status(&row)?;
    let made = if row.target == "message" {
        let message = conversations::message(act, MessageId(row.target_id)).await?;
        ReplyMade { comment: None, message: Some(message) }
    } else {
        let comment = comments::shown(act, CommentId(row.target_id)).await?;
        ReplyMade { comment: Some(comment), message: None }
    };
    finish(act, Reply::ok(&made).with_status(status)).await
}
