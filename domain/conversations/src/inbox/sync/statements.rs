//! What a reading of an inbox stores.

use fanfare_core::{AccountId, Domain, Tx, error::Result};
use fanfare_entities::{Millis, account, inbox_comment};
use fanfare_platforms::{RemoteComment, RemoteMessage};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use super::super::{
    inbound,
    store::{self, Intake},
};

/// Stores messages, the oldest first. Those from before the account was connected, which are not `live`, emit no events.
///
/// # Errors
/// The database's.
pub async fn store_messages(
    cx: &Domain,
    account: &account::Model,
    mut messages: Vec<RemoteMessage>,
    live: bool,
) -> Result<()> {
    messages.sort_by_key(|message| message.at);
    let mut tx = Tx::begin(cx).await?;
    inbound::lock(&tx, account.id).await?;
    for message in messages {
        store::message(&mut tx, account, message, Intake { live, is_listed: true }).await?;
    }
    tx.commit().await
}

/// Stores the comments of a post as they were at `read_at`. Of those that are not listed any more, `unlisted` says
/// whether they are hidden; without that they are deleted.
///
/// # Errors
/// The database's.
pub async fn store_comments(
    cx: &Domain,
    account: &account::Model,
    (mut listed, unlisted): (Vec<RemoteComment>, Vec<(String, Option<bool>)>),
    (read_at, live): (Millis, bool),
) -> Result<()> {
    // Comments come before the replies to them.
    listed.sort_by_key(|comment| (comment.parent.is_some(), comment.at));
    let mut tx = Tx::begin(cx).await?;
    inbound::lock(&tx, account.id).await?;
    for (id, hidden) in unlisted {
        match hidden {
            Some(hidden) => store::hidden(&tx, account, &id, hidden, read_at).await?,
            None => store::deleted(&mut tx, account, &id, None, read_at).await?,
        };
    }
    for comment in listed {
        store::comment(&mut tx, account, comment, read_at, Intake { live, is_listed: true })
            .await?;
    }
    tx.commit().await
}

/// Returns the network's ids of a post's comments that were known before a reading and have not changed since, those
/// that were checked longest ago first.
///
/// # Errors
/// The database's.
pub async fn known_comments(
    cx: &Domain,
    account: AccountId,
    post: &str,
    read_at: Millis,
) -> Result<Vec<String>> {
    let known = inbox_comment::Entity::find()
        .filter(inbox_comment::Column::AccountId.eq(account))
        .filter(inbox_comment::Column::PlatformPostId.eq(post))
        .filter(inbox_comment::Column::Deleted.eq(false))
        .filter(inbox_comment::Column::CreatedAt.lt(read_at))
        .filter(inbox_comment::Column::ChangedAt.lt(read_at))
        .order_by_asc(inbox_comment::Column::ChangedAt)
        .order_by_asc(inbox_comment::Column::Id)
        .all(&cx.db.write)
        .await?;
    Ok(known.into_iter().filter_map(|row| row.remote_id).collect())
}
