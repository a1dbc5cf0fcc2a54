//! Deletes what the inbox keeps no longer.

use fanfare_core::{Domain, batches, error::Result};
use fanfare_entities::{
    AccountId, Millis, inbox_comment, inbox_conversation, inbox_file, inbox_message, inbox_sync,
};
use fanfare_publishing::accounts;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait};

use super::{files, inbound};

const DAY: Millis = 24 * 3_600_000;

/// The time for which messages and comments are kept.
const RETENTION: Millis = 180 * DAY;

/// Deletes items that are older than 180 days, and those of disconnected accounts.
///
/// # Errors
/// The database's.
pub async fn prune(cx: &Domain) -> Result<u64> {
    let now = cx.clock.now();
    let mut deleted = delete_old(cx, now - RETENTION).await?;
    for accounts in accounts::newly_disconnected(cx).await?.chunks(accounts::FEW) {
        deleted += delete_of(cx, accounts).await?;
    }
    deleted += inbound::prune(cx, now - 7 * DAY).await?;
    Ok(deleted + crate::outgoing::prune(cx, now - RETENTION).await?)
}

async fn delete_old(cx: &Domain, before: Millis) -> Result<u64> {
    let at = inbox_message::Column::SentAt;
    let mut deleted = batches::delete::<inbox_message::Entity>(cx, at, at.lt(before)).await?;
    let at = inbox_conversation::Column::LastAt;
    deleted += batches::delete::<inbox_conversation::Entity>(cx, at, at.lt(before)).await?;
    let at = inbox_comment::Column::CommentedAt;
    deleted += batches::delete::<inbox_comment::Entity>(cx, at, at.lt(before)).await?;
    let at = inbox_file::Column::ItemAt;
    Ok(deleted + files::remove_all(cx, at, at.lt(before)).await?)
}

/// Deletes everything of these accounts. Messages are found by their conversations.
async fn delete_of(cx: &Domain, accounts: &[AccountId]) -> Result<u64> {
    let accounts = || accounts.iter().copied();
    let account = inbox_conversation::Column::AccountId;
    let conversations = inbox_conversation::Entity::find()
        .select_only()
        .column(inbox_conversation::Column::Id)
        .filter(account.is_in(accounts()));
    let conversation = inbox_message::Column::ConversationId;
    let messages = conversation.in_subquery(conversations.into_query());
    let mut deleted = batches::delete::<inbox_message::Entity>(cx, conversation, messages).await?;
    let conversations = account.is_in(accounts());
    deleted += batches::delete::<inbox_conversation::Entity>(cx, account, conversations).await?;
    let account = inbox_comment::Column::AccountId;
    let comments = account.is_in(accounts());
    deleted += batches::delete::<inbox_comment::Entity>(cx, account, comments).await?;
    let account = inbox_file::Column::AccountId;
    deleted += files::remove_all(cx, account, account.is_in(accounts())).await?;
    let account = inbox_sync::Column::AccountId;
    Ok(deleted
        + batches::delete::<inbox_sync::Entity>(cx, account, account.is_in(accounts())).await?)
}
