//! Stores messages, and that they were taken back.

use fanfare_core::{Tx, error::Result};
use fanfare_entities::{
    Millis, account, inbox_conversation,
    inbox_message::{self, ItemStatus},
};
use fanfare_platforms::{Person, RemoteMessage};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder,
};
use serde_json::json;

use super::super::files;
use super::{
    Intake,
    conversations::{conversation, latest},
    received_events::emit_message,
};
use crate::outgoing::{self, OutgoingTarget};

/// Stores a message.
pub(in crate::inbox) async fn message(
    tx: &mut Tx,
    account: &account::Model,
    mut message: RemoteMessage,
    how: Intake,
) -> Result<()> {
    use inbox_message::Column;
    message.bound();
    let at = message.at.timestamp_millis();
    let conversation = conversation(tx, account, &message.participant, at).await?;
    let known = inbox_message::Entity::find()
        .filter(Column::AccountId.eq(account.id))
        .filter(Column::RemoteId.eq(message.id.as_str()))
        .one(tx.conn())
        .await?;
    if known.is_some() {
        return Ok(());
    }
    if message.out && match_own_message(tx, &conversation, &message).await? {
        return Ok(());
    }
    let row = inbox_message::ActiveModel {
        workspace_id: Set(account.workspace_id),
        account_id: Set(account.id),
        conversation_id: Set(conversation.id),
        remote_id: Set(Some(message.id.clone())),
        outbound: Set(message.out),
        text: Set(message.text.clone()),
        attachments: Set(files::pending_files(&message.attachments)),
        status: Set(if message.out { ItemStatus::Sent } else { ItemStatus::Received }),
        deleted: Set(false),
        sent_at: Set(at),
        created_at: Set(tx.now()),
        ..Default::default()
    };
    let row = inbox_message::Entity::insert(row).exec_with_returning(tx.conn()).await?;
    files::enqueue_copies(tx, files::message_owner(&row), &message.attachments).await?;
    let conversation = latest(tx, conversation, &message, at).await?;
    if how.live && !message.out {
        emit_message(tx, account, row, &conversation);
    }
    Ok(())
}

/// Finds the row of a message that we sent and that the network now reports. It may be known as sent without an id, if
/// the answer with the id was lost.
async fn match_own_message(
    tx: &Tx,
    conversation: &inbox_conversation::Model,
    message: &RemoteMessage,
) -> Result<bool> {
    use inbox_message::Column;
    let mut open = inbox_message::Entity::find()
        .filter(Column::ConversationId.eq(conversation.id))
        .filter(Column::Outbound.eq(true))
        .filter(Column::RemoteId.is_null())
        .filter(Column::Status.is_in([ItemStatus::Sending, ItemStatus::Unknown, ItemStatus::Sent]))
        .order_by_asc(Column::Id)
        .all(tx.conn())
        .await?;
    let at = message.at.timestamp_millis();
    let is_sent = |row: &inbox_message::Model| row.status == ItemStatus::Sent;
    open.retain(|row| {
        let (from, until) = outgoing::made_within(row.created_at);
        !is_sent(row) || (from..=until).contains(&at)
    });
    let is_it = |row: &&inbox_message::Model| {
        let files = row.attachments.as_array().is_some_and(|files| !files.is_empty());
        row.text.trim() == message.text.trim() && files != message.attachments.is_empty()
    };
    // A mark identifies the message with certainty; a text does if only one message has it.
    let marked = match &message.mark {
        Some(mark) => outgoing::find_marked(tx.conn(), conversation.account_id, mark).await?,
        None => None,
    };
    let alike: Vec<_> = open.iter().filter(is_it).collect();
    let row = match (marked, alike.as_slice()) {
        (Some(id), _) => open.iter().find(|row| row.id.0 == id),
        (None, [only]) => Some(*only),
        // All of them are on the network, so it makes no difference which of them gets which id.
        (None, [first, ..]) if alike.iter().all(|row| is_sent(row)) => Some(*first),
        (None, _) => None,
    };
    let Some(row) = row else { return Ok(false) };
    outgoing::confirm_by_network(tx, OutgoingTarget::Message(row.id), &message.id).await?;
    let change = inbox_message::ActiveModel {
        id: Set(row.id),
        remote_id: Set(Some(message.id.clone())),
        status: Set(ItemStatus::Sent),
        error: Set(None),
        ..Default::default()
    };
    change.update(tx.conn()).await?;
    latest(tx, conversation.clone(), message, at).await?;
    Ok(true)
}

/// Deletes the text and the files of a message that was taken back. One that is not known yet is stored as deleted.
pub(super) async fn mark_unsent(
    tx: &mut Tx,
    account: &account::Model,
    id: &str,
    person: &Person,
    (out, at): (bool, Millis),
) -> Result<()> {
    use inbox_message::Column;
    let conversation = conversation(tx, account, person, at).await?;
    let known = inbox_message::Entity::find()
        .filter(Column::AccountId.eq(account.id))
        .filter(Column::RemoteId.eq(id))
        .one(tx.conn())
        .await?;
    let Some(row) = known else {
        let row = inbox_message::ActiveModel {
            workspace_id: Set(account.workspace_id),
            account_id: Set(account.id),
            conversation_id: Set(conversation.id),
            remote_id: Set(Some(id.to_owned())),
            outbound: Set(out),
            text: Set(String::new()),
            attachments: Set(json!([])),
            status: Set(if out { ItemStatus::Sent } else { ItemStatus::Received }),
            deleted: Set(true),
            sent_at: Set(at),
            created_at: Set(tx.now()),
            ..Default::default()
        };
        inbox_message::Entity::insert(row).exec_without_returning(tx.conn()).await?;
        return Ok(());
    };
    if row.deleted {
        return Ok(());
    }
    if conversation.last_at == row.sent_at && conversation.last_text == row.text {
        let blank = inbox_conversation::ActiveModel {
            id: Set(conversation.id),
            last_text: Set(String::new()),
            ..Default::default()
        };
        blank.update(tx.conn()).await?;
    }
    let change = inbox_message::ActiveModel {
        id: Set(row.id),
        text: Set(String::new()),
        attachments: Set(json!([])),
        deleted: Set(true),
        ..Default::default()
    };
    change.update(tx.conn()).await?;
    files::remove_copies(tx, files::message_owner(&row)).await
}
