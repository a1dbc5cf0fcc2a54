//! Conversations, messages and comments as replies and events show them.

use fanfare_core::{
    Domain,
    clock::Time,
    error::{Code, Retry},
    files::signed,
};
use fanfare_entities::{
    AccountId, BrandId, CommentId, ConversationId, MessageId, PostId, account, inbox_comment,
    inbox_conversation,
    inbox_message::{self, ItemStatus},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ActionContext, InboxAction, PREVIEW_CHARS, comment_state};

/// The direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageDirection {
    /// To the account.
    In,
    /// From the account.
    Out,
}

const fn direction(outbound: bool) -> MessageDirection {
    if outbound { MessageDirection::Out } else { MessageDirection::In }
}

/// The other user in a conversation.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct Participant {
    /// The network's id.
    pub id: String,
    pub username: Option<String>,
    pub name: Option<String>,
    pub avatar_url: Option<String>,
}

/// The latest message.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct LastMessage {
    /// Its beginning, 200 characters at most.
    pub text: String,
    pub direction: MessageDirection,
    pub created_at: Time,
}

/// A conversation of an account with one user of the network.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct Conversation {
    pub id: ConversationId,
    pub platform: String,
    pub account_id: AccountId,
    /// Brand of the account; null if it belongs to the whole workspace.
    pub workspace_client_id: Option<BrandId>,
    /// The actions that the network, the state and your role allow now. In events: those that the highest role has.
    pub can: Vec<InboxAction>,
    /// The end of the time for a reply, a day after the user last wrote; null if the user never did.
    pub reply_until: Option<Time>,
    pub created_at: Time,
    pub participant: Participant,
    pub last_message: LastMessage,
    /// The latest message is from the user.
    pub unanswered: bool,
    /// The time of the latest message.
    pub updated_at: Time,
}

impl Conversation {
    pub(super) fn of(
        row: &inbox_conversation::Model,
        account: &account::Model,
        asking: &ActionContext,
    ) -> Self {
        Self {
            id: row.id,
            platform: account.platform.clone(),
            account_id: row.account_id,
            workspace_client_id: account.brand_id,
            can: asking.conversation(row.last_inbound_at, false),
            reply_until: asking.reply_until(row.last_inbound_at, false).map(Time),
            created_at: Time(row.created_at),
            participant: Participant {
                id: row.participant_id.clone(),
                username: row.participant_username.clone(),
                name: row.participant_name.clone(),
                avatar_url: row.participant_avatar.clone(),
            },
            last_message: LastMessage {
                text: row.last_text.chars().take(PREVIEW_CHARS).collect(),
                direction: direction(row.last_outbound),
                created_at: Time(row.last_at),
            },
            unanswered: row.unanswered,
            updated_at: Time(row.last_at),
        }
    }
}

/// The author of something.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct Author {
    /// The network's id, if the network reports it.
    pub id: Option<String>,
    pub username: Option<String>,
    pub name: Option<String>,
    /// The account itself wrote it.
    pub is_owner: bool,
}

/// A file of a message or comment.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Attachment {
    /// `image`, `video`, `audio`, `file`, `share`, `story`, `sticker` or `other`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The address of the copy, valid for an hour and without a key; each reading returns a new one. Null: there is no
    /// copy.
    pub url: Option<String>,
    /// Media type, detected from its bytes; null without a copy.
    pub mime: Option<String>,
    /// Size; null without a copy.
    pub bytes: Option<i64>,
    /// Why there is no copy: `pending` (it is being copied; always so in events), `too_large` (over 25 MB),
    /// `not_allowed` (the address is not public), `unavailable` (the address returns no file), `not_told` (the network
    /// returns no address), or `not_copied` (it arrived before files were copied).
    pub reason: Option<String>,
}

fn attachments(cx: &Domain, stored: &Value) -> Vec<Attachment> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let file = |one: &Value| {
        let url = one["path"].as_str().and_then(|path| signed::address(cx, path));
        let reason = text(&one["reason"]).unwrap_or_else(|| "not_copied".to_owned());
        Attachment {
            kind: text(&one["type"]).unwrap_or_else(|| "other".to_owned()),
            mime: text(&one["mime"]).filter(|_| url.is_some()),
            bytes: one["bytes"].as_i64(),
            reason: url.is_none().then_some(reason),
            url,
        }
    };
    stored.as_array().into_iter().flatten().map(file).collect()
}

/// Why an item of ours was not sent.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct ItemError {
    pub code: String,
    pub message: String,
    pub remedy: Option<String>,
    /// It is certainly not on the network, so it can safely be sent again.
    pub retry_safe: bool,
    /// What sending the same again leads to.
    pub retry: Retry,
    /// With `retry` `after`: the seconds to wait, where the network named them.
    pub retry_after: Option<u64>,
}

fn error(stored: Option<&Value>) -> Option<ItemError> {
    let stored = stored?;
    let code = stored["code"].as_str()?;
    let retry_safe = stored["retry_safe"].as_bool().unwrap_or(false);
    let of_code = Code::named(code).map_or(Retry::AfterChange, Code::retry);
    Some(ItemError {
        retry: if retry_safe { of_code } else { Retry::Unsafe },
        retry_after: stored["retry_after"].as_u64(),
        code: code.to_owned(),
        message: stored["message"].as_str().unwrap_or_default().to_owned(),
        remedy: stored["remedy"].as_str().map(str::to_owned),
        retry_safe,
    })
}

/// A direct message.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct Message {
    pub id: MessageId,
    pub platform: String,
    pub account_id: AccountId,
    /// Brand of the account; null if it belongs to the whole workspace.
    pub workspace_client_id: Option<BrandId>,
    /// The actions that are possible with its conversation.
    pub can: Vec<InboxAction>,
    /// The end of the time in which its conversation can be replied to.
    pub reply_until: Option<Time>,
    /// The time at which it was sent.
    pub created_at: Time,
    pub conversation_id: ConversationId,
    /// The network's id; null until it is known.
    pub platform_message_id: Option<String>,
    pub direction: MessageDirection,
    pub author: Author,
    pub text: String,
    pub attachments: Vec<Attachment>,
    pub status: ItemStatus,
    /// The reason why it failed.
    pub error: Option<ItemError>,
    /// True if its sender took it back.
    pub deleted: bool,
}

impl Message {
    pub(super) fn of(
        cx: &Domain,
        row: inbox_message::Model,
        conversation: &inbox_conversation::Model,
        account: &account::Model,
        asking: &ActionContext,
    ) -> Self {
        let author = if row.outbound {
            Author {
                id: Some(account.remote_id.clone()),
                username: Some(account.username.clone()),
                name: account.display_name.clone(),
                is_owner: true,
            }
        } else {
            Author {
                id: Some(conversation.participant_id.clone()),
                username: conversation.participant_username.clone(),
                name: conversation.participant_name.clone(),
                is_owner: false,
            }
        };
        Self {
            id: row.id,
            platform: account.platform.clone(),
            account_id: row.account_id,
            workspace_client_id: account.brand_id,
            can: asking.conversation(conversation.last_inbound_at, false),
            reply_until: asking.reply_until(conversation.last_inbound_at, false).map(Time),
            created_at: Time(row.sent_at),
            conversation_id: row.conversation_id,
            platform_message_id: row.remote_id,
            direction: direction(row.outbound),
            author,
            text: row.text,
            attachments: attachments(cx, &row.attachments),
            status: row.status,
            error: error(row.error.as_ref()),
            deleted: row.deleted,
        }
    }
}

/// A comment on a post, or a reply to one.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct Comment {
    pub id: CommentId,
    pub platform: String,
    pub account_id: AccountId,
    /// Brand of the account; null if it belongs to the whole workspace.
    pub workspace_client_id: Option<BrandId>,
    /// The actions that the network, the state and your role allow now. In events: those that the highest role has.
    pub can: Vec<InboxAction>,
    /// Always null: comments can be replied to at any time.
    pub reply_until: Option<Time>,
    /// The time at which it was written.
    pub created_at: Time,
    /// The post, if it was made with this service.
    pub post_id: Option<PostId>,
    pub platform_post_id: String,
    /// The network's id; null until it is known.
    pub platform_comment_id: Option<String>,
    /// The comment that it answers.
    pub parent_id: Option<CommentId>,
    pub author: Author,
    pub text: String,
    pub attachments: Vec<Attachment>,
    /// Null if it is not known.
    pub like_count: Option<i64>,
    /// Null if it is not known.
    pub reply_count: Option<i64>,
    pub hidden: bool,
    pub deleted: bool,
    /// True if another user wrote it and the account has not replied.
    pub unanswered: bool,
    /// The public address.
    pub url: Option<String>,
    /// The end of the time for a private reply; null if none is possible.
    pub private_reply_until: Option<Time>,
    /// The progress of a reply of ours; null for other comments.
    pub status: Option<ItemStatus>,
    /// The reason why it failed.
    pub error: Option<ItemError>,
}

impl Comment {
    pub(super) fn of(
        cx: &Domain,
        row: inbox_comment::Model,
        account: &account::Model,
        asking: &ActionContext,
    ) -> Self {
        let known = comment_state(&row);
        Self {
            id: row.id,
            platform: account.platform.clone(),
            account_id: row.account_id,
            workspace_client_id: account.brand_id,
            can: asking.comment(&known),
            reply_until: None,
            created_at: Time(row.commented_at),
            post_id: row.post_id,
            platform_post_id: row.platform_post_id,
            platform_comment_id: row.remote_id,
            parent_id: row.parent_id,
            author: Author {
                id: row.author_id,
                username: row.author_username,
                name: row.author_name,
                is_owner: row.own,
            },
            text: row.text,
            attachments: attachments(cx, &row.attachments),
            like_count: row.like_count,
            reply_count: row.reply_count,
            hidden: row.hidden,
            deleted: row.deleted,
            unanswered: row.unanswered,
            url: row.url,
            private_reply_until: asking.private_reply_until(&known).map(Time),
            status: row.status,
            error: error(row.error.as_ref()),
        }
    }
}

/// One comment.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneComment {
    pub(super) comment: Comment,
}

/// One message.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneMessage {
    pub(super) message: Message,
}
