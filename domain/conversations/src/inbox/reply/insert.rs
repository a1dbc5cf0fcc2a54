//! Inserts the rows of a reply: what is shown of it, and the work of sending it.

use fanfare_core::{Act, Tx, error::Result};
use fanfare_entities::{
    CommentId, MessageId, account, inbox_comment, inbox_conversation,
    inbox_message::{self, ItemStatus},
    outgoing,
};
use fanfare_platforms::{Attachment, MessageFile, RemoteChange};
use sea_orm::{ActiveValue::Set, ConnectionTrait, EntityTrait};
use serde_json::json;

use super::super::files;
use crate::outgoing::{self as changes, NewOutgoing, OutgoingTarget};

pub(super) async fn insert_message(
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
        attachments: Set(files::pending_files(&sent)),
        status: Set(ItemStatus::Sending),
        deleted: Set(false),
        // The reply comes after the message it answers, even if the network's clock is ahead of ours.
        sent_at: Set(now.max(conversation.last_at + 1)),
        created_at: Set(now),
        ..Default::default()
    };
    let made = inbox_message::Entity::insert(row).exec_with_returning(tx.conn()).await?;
    files::enqueue_copies(tx, files::message_owner(&made), &sent).await?;
    Ok(made.id)
}

pub(super) async fn insert_reply<C: ConnectionTrait>(
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

pub(super) async fn insert(
    act: &Act,
    tx: &mut Tx,
    account: &account::Model,
    (target, scope, change): (OutgoingTarget, String, RemoteChange),
) -> Result<outgoing::Model> {
    let (workspace_id, account_id) = (account.workspace_id, account.id);
    changes::insert(act, tx, NewOutgoing { workspace_id, account_id, target, scope, change }).await
}
