//! The times at which comments were last hidden or shown. They stand apart from those of their texts, since what a network
//! tells of the two comes in any order: an edit counts although the comment was hidden after it.
//!
//! A time is a row among the events that is never due; it goes with them, when the network repeats nothing so old any more.

use fanfare_entities::{
    AccountId, Millis, WorkspaceId,
    inbound_event::{ActiveModel, Column, Entity},
};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect,
    sea_query::OnConflict,
};

use crate::{error::Result, outgoing::hash};

fn key(account: AccountId, comment: &str) -> String {
    hash(&["last hidden or shown", &account.to_string(), comment].join("\n"))
}

/// Returns the time at which a comment was last hidden or shown, if it ever was.
///
/// # Errors
/// The database's.
pub(super) async fn last<C: ConnectionTrait>(
    conn: &C,
    account: AccountId,
    comment: &str,
) -> Result<Option<Millis>> {
    let row = Entity::find()
        .select_only()
        .column(Column::HappenedAt)
        .filter(Column::DedupKey.eq(key(account, comment)));
    Ok(row.into_tuple().one(conn).await?)
}

/// Notes that a comment was hidden or shown, as the latest that is known. The account must be locked.
///
/// # Errors
/// The database's.
pub(crate) async fn note<C: ConnectionTrait>(
    conn: &C,
    (workspace_id, account_id): (WorkspaceId, AccountId),
    comment: &str,
    (at, now): (Millis, Millis),
) -> Result<()> {
    let row = ActiveModel {
        workspace_id: Set(workspace_id),
        account_id: Set(account_id),
        dedup_key: Set(key(account_id, comment)),
        happened_at: Set(at),
        item: Set(None),
        due_at: Set(None),
        fencing_token: Set(0),
        attempts: Set(0),
        lease_expirations: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    let known = OnConflict::column(Column::DedupKey)
        .update_columns([Column::HappenedAt, Column::UpdatedAt])
        .to_owned();
    Entity::insert(row).on_conflict(known).exec_without_returning(conn).await?;
    Ok(())
}
