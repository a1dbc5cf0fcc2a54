//! Replies to conversations and comments.

mod check;
mod insert;

pub(super) use self::check::{reconnect, require};
use fanfare_core::{
    Act, Reply,
    error::{Code, Error, Result, Violations, violation},
};
use fanfare_entities::{
    CommentId, ConversationId, MessageId, inbox_comment, inbox_conversation,
    outgoing::{self, OutgoingStatus},
};
use fanfare_platforms::RemoteChange;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, QueryFilter, QuerySelect};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use self::{
    check::{check_text, content, require_open},
    insert::{insert, insert_message, insert_reply},
};
use super::{
    Comment, InboxAction, Message, OneMessage, action_context, comments, conversations, no_comment,
    no_conversation, visible_comments, visible_conversations,
};
use crate::outgoing::{self as changes, OutgoingTarget};

/// A reply to a conversation: a text or a file.
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
    /// A human wrote it: it may be sent up to 7 days after the user's last message. Meta must have allowed the service
    /// this.
    #[serde(default)]
    pub human_agent: Option<bool>,
    /// Send it even if the same reply may have been sent a moment ago.
    #[serde(default)]
    pub acknowledge_duplicate_risk: Option<bool>,
}

/// A reply to a comment.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentReply {
    /// The text.
    #[schemars(length(max = 10_000))]
    pub text: String,
    /// Reply with a direct message, which a comment allows once, within 7 days, on Instagram.
    #[serde(default)]
    pub private: Option<bool>,
    /// Send it even if the same reply may have been sent a moment ago.
    #[serde(default)]
    pub acknowledge_duplicate_risk: Option<bool>,
}

/// The result of a reply to a comment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReplyCreated {
    /// The public reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<Comment>,
    /// With `private`: the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

/// Replies to a conversation. Returns 201 once the network has accepted the reply, or 202 while that is not known.
///
/// # Errors
/// [`Code::ConversationNotFound`], [`Code::ReplyWindowClosed`], [`Code::DuplicateRisk`], or the network's refusal.
pub async fn to_conversation(
    act: &Act,
    id: ConversationId,
    reply: MessageReply,
) -> Result<Reply<OneMessage>> {
    let (_, account) = conversations::find(act, id).await?;
    if let Some(earlier) = changes::find_by_request(act).await? {
        return message_response(act, earlier).await;
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
    let asking = action_context(act, &account);
    require_open(&asking, &row, human)?;
    let usual = asking.conversation(row.last_inbound_at, false).contains(&InboxAction::Reply);
    let change = RemoteChange::Message {
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
    let target = OutgoingTarget::Message(message);
    let row = insert(act, &mut tx, &account, (target, scope, change)).await?;
    let row = changes::commit_and_wait(tx, row).await?;
    message_response(act, row).await
}

/// Replies to a comment, in public or with a direct message. Returns 201 once the network has accepted the reply, or
/// 202 while that is not known.
///
/// # Errors
/// [`Code::CommentNotFound`], [`Code::PrivateReplyNotSupported`], [`Code::ActionNotAllowed`], [`Code::DuplicateRisk`],
/// or the network's refusal.
pub async fn to_comment(
    act: &Act,
    id: CommentId,
    reply: CommentReply,
) -> Result<Reply<ReplyCreated>> {
    let (_, account) = comments::find(act, id).await?;
    if let Some(earlier) = changes::find_by_request(act).await? {
        return reply_response(act, earlier).await;
    }
    let rules = super::rules(&account).ok_or_else(|| no_comment(id))?;
    let private = reply.private.unwrap_or(false);
    if private && !rules.private_replies {
        let message = "This network has no private answers to comments.";
        let remedy = "Leave `private` out to answer in public.";
        return Err(Error::field(Code::PrivateReplyNotSupported, "private", message, remedy));
    }
    let mut broken = Violations::default();
    if fanfare_platforms::text::is_blank(&reply.text) {
        let message = "text is required.";
        broken.push(violation(Code::FieldRequired, "text", message, "Send the answer's text."));
    }
    let most = if private { rules.message_max } else { (rules.comment_max, false) };
    check_text(&mut broken, &reply.text, most);
    Error::check(broken)?;
    let mut tx = act.begin().await?;
    if private {
        // This locks the comment and its author's conversation, like the arrival of messages.
        super::inbound::lock(&tx, account.id).await?;
    }
    let row = visible_comments(act)
        .filter(inbox_comment::Column::Id.eq(id))
        .lock_exclusive()
        .one(tx.conn())
        .await?
        .ok_or_else(|| no_comment(id))?;
    let wanted = if private { InboxAction::PrivateReply } else { InboxAction::Reply };
    let remote_id = require(&action_context(act, &account), &row, wanted)?;
    let (text, scope) = (reply.text.clone(), format!("comment:{id}"));
    let change = match private {
        true => RemoteChange::PrivateReply { comment: remote_id, text },
        false => RemoteChange::Reply { comment: remote_id, text },
    };
    if !reply.acknowledge_duplicate_risk.unwrap_or(false) {
        changes::refuse_duplicate(act, tx.conn(), &scope, &change).await?;
    }
    let target = if private {
        let conversation = super::store::conversation_with(&tx, &account, &row).await?;
        let text = Some(reply.text);
        OutgoingTarget::Message(insert_message(&mut tx, &conversation, text, None).await?)
    } else {
        OutgoingTarget::Reply(insert_reply(act, tx.conn(), &account, &row, reply.text).await?)
    };
    let row = insert(act, &mut tx, &account, (target, scope, change)).await?;
    let row = changes::commit_and_wait(tx, row).await?;
    reply_response(act, row).await
}

/// Returns the reply for a sent message: 201, 202, or the reason why it failed.
async fn message_response(act: &Act, row: outgoing::Model) -> Result<Reply<OneMessage>> {
    let status = status(&row)?;
    let message = conversations::message(act, MessageId(row.target_id)).await?;
    finish(act, Reply::ok(&OneMessage { message }).with_status(status)).await
}

async fn reply_response(act: &Act, row: outgoing::Model) -> Result<Reply<ReplyCreated>> {
    let status = status(&row)?;
    let made = if row.target == "message" {
        let message = conversations::message(act, MessageId(row.target_id)).await?;
        ReplyCreated { comment: None, message: Some(message) }
    } else {
        let comment = comments::shown(act, CommentId(row.target_id)).await?;
        ReplyCreated { comment: Some(comment), message: None }
    };
    finish(act, Reply::ok(&made).with_status(status)).await
}

/// Returns 201 once the network has accepted it, or 202 while that is not known.
pub(crate) fn status(row: &outgoing::Model) -> Result<u16> {
    match (row.status, &row.error) {
        (OutgoingStatus::Sent, _) => Ok(201),
        (OutgoingStatus::Failed, Some(failure)) => Err(changes::error(failure)),
        _ => Ok(202),
    }
}

/// Stores the reply under the request's `Idempotency-Key`, unless the outcome is not known yet: then a repeated request
/// gets a newer reply.
pub(crate) async fn finish<T>(act: &Act, mut reply: Reply<T>) -> Result<Reply<T>> {
    if reply.status == 202 {
        reply.poll_after = Some(5);
    }
    let tx = act.begin().await?;
    act.finish(tx, reply).await
}
