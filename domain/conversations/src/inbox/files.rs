//! Files of messages and comments. They are copied when they arrive, served by addresses that are valid for an hour,
//! and deleted with their message or comment.
//!
//! The row of a file is the work: a worker copies the file, or removes the copy once `kept` is false. The message or
//! comment holds what replies show of it.

use fanfare_core::{
    Domain, Tx, batches,
    durable::{self, Lease},
    error::{Error, Result},
    files::signed::ROOT,
};
use fanfare_entities::{
    AccountId, CommentId, InboxFileId, MessageId, Millis, WorkspaceId, inbox_comment, inbox_file,
    inbox_file::{Column, ItemKind},
    inbox_message,
};
use fanfare_jobs::JobKind;
use fanfare_media::StoredMedia;
use fanfare_platforms::Attachment;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, ExprTrait, QueryFilter,
    UpdateMany, sea_query::Expr,
};
use serde_json::{Value, json};

use super::inbound;

/// The delay before each further attempt to copy a file, in ms.
const RETRY_DELAY: Millis = 15_000;

/// A message or comment with files.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileOwner {
    workspace_id: WorkspaceId,
    account_id: AccountId,
    kind: ItemKind,
    id: i64,
    at: Millis,
}

/// Returns a message as the owner of files.
pub(super) const fn message_owner(row: &inbox_message::Model) -> FileOwner {
    FileOwner {
        workspace_id: row.workspace_id,
        account_id: row.account_id,
        kind: ItemKind::Message,
        id: row.id.0,
        at: row.sent_at,
    }
}

/// Returns a comment as the owner of files.
pub(super) const fn comment_owner(row: &inbox_comment::Model) -> FileOwner {
    FileOwner {
        workspace_id: row.workspace_id,
        account_id: row.account_id,
        kind: ItemKind::Comment,
        id: row.id.0,
        at: row.commented_at,
    }
}

/// Returns the files as their message or comment holds them until they are copied.
pub(super) fn pending_files(files: &[Attachment]) -> Value {
    let file = |one: &Attachment| {
        let reason = if one.url.is_some() { "pending" } else { "not_told" };
        json!({"type": one.kind, "reason": reason})
    };
    json!(files.iter().map(file).collect::<Vec<_>>())
}

/// Adds rows that copy the files of a new message or comment.
pub(super) async fn enqueue_copies(
    tx: &mut Tx,
    item: FileOwner,
    files: &[Attachment],
) -> Result<()> {
    let now = tx.now();
    for (place, file) in files.iter().enumerate() {
        let Some(url) = &file.url else { continue };
        let row = inbox_file::ActiveModel {
            workspace_id: Set(item.workspace_id),
            account_id: Set(item.account_id),
            item: Set(item.kind),
            item_id: Set(item.id),
            item_at: Set(item.at),
            place: Set(i32::try_from(place).map_err(Error::internal)?),
            source: Set(Some(url.clone())),
            kept: Set(true),
            due_at: Set(Some(now)),
            fencing_token: Set(0),
            attempts: Set(0),
            lease_expirations: Set(0),
            created_at: Set(now),
            updated_at: Set(now),
            ..Default::default()
        };
        let made = inbox_file::Entity::insert(row).exec_with_returning(tx.conn()).await?;
        tx.enqueue(JobKind::CopyAttachment, made.workspace_id, made.id.0, now);
    }
    Ok(())
}

/// Returns the update that has copies removed; a worker that is just making one of them loses its row.
fn removal(now: Millis) -> UpdateMany<inbox_file::Entity> {
    inbox_file::Entity::update_many()
        .col_expr(Column::Kept, Expr::value(false))
        .col_expr(Column::Source, Expr::value(Option::<String>::None))
        .col_expr(Column::DueAt, Expr::value(now))
        .col_expr(Column::FencingToken, Expr::col(Column::FencingToken).add(1))
        .col_expr(Column::LeaseExpirations, Expr::value(0))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .filter(Column::Kept.eq(true))
}

/// Has the files removed of a message or comment that was taken back.
pub(super) async fn remove_copies(tx: &Tx, item: FileOwner) -> Result<()> {
    removal(tx.now())
        .filter(Column::Item.eq(item.kind))
        .filter(Column::ItemId.eq(item.id))
        .exec(tx.conn())
        .await?;
    Ok(())
}

/// Has the files removed that match, in the order of a column that an index has.
pub(super) async fn remove_all(cx: &Domain, order: Column, which: Expr) -> Result<u64> {
    let (now, kept) = (cx.clock.now(), Column::Kept.eq(true));
    batches::update::<inbox_file::Entity>(cx, order, which.and(kept), || removal(now)).await
}

/// Claims the row of a file, if it is due.
///
/// # Errors
/// The database's; then its lease expires.
pub async fn claim(cx: &Domain, holder: &str, id: i64) -> Result<Option<inbox_file::Model>> {
    let now = cx.clock.now();
    let taken = durable::claim(&cx.db.write, JobKind::CopyAttachment, &[id], (holder, now)).await?;
    Ok(taken.into_iter().next())
}

/// Returns the folder of the store in which the copies of a workspace lie.
#[must_use]
pub fn folder(row: &inbox_file::Model) -> String {
    format!("{ROOT}/{}", row.workspace_id)
}

/// The outcome of a copy.
#[derive(Debug)]
pub enum CopyOutcome {
    /// It is stored.
    Stored(StoredMedia),
    /// It cannot be copied, for this reason.
    Without(&'static str),
    /// It is tried again later.
    Again,
}

/// Writes the outcome of a copy to its row and to the message or comment. Returns false if the copy is not needed any
/// more.
///
/// # Errors
/// The database's; then its lease expires.
pub async fn finish(cx: &Domain, row: &inbox_file::Model, outcome: CopyOutcome) -> Result<bool> {
    let mut tx = Tx::begin(cx).await?;
    inbound::lock(&tx, row.account_id).await?;
    let now = tx.now();
    let mut again = None;
    let (change, shown) = match outcome {
        CopyOutcome::Again => {
            let due_at = now + RETRY_DELAY * Millis::from(row.attempts + 1);
            tx.enqueue(JobKind::CopyAttachment, row.workspace_id, row.id.0, due_at);
            again = Some(due_at);
            let attempts = Set(row.attempts + 1);
            (inbox_file::ActiveModel { attempts, ..Default::default() }, None)
        }
        CopyOutcome::Stored(file) => {
            let shown = json!({"path": file.path, "mime": file.mime, "bytes": file.bytes});
            let done = inbox_file::ActiveModel {
                path: Set(Some(file.path)),
                source: Set(None),
                ..Default::default()
            };
            (done, Some(shown))
        }
        CopyOutcome::Without(reason) => {
            let done = inbox_file::ActiveModel { source: Set(None), ..Default::default() };
            (done, Some(json!({ "reason": reason })))
        }
    };
    let lease = Lease::new(row.id.0, row.fencing_token);
    let written = durable::give_back::<inbox_file::Entity>(lease, again, now)
        .set(change)
        .exec(tx.conn())
        .await?;
    if written.rows_affected != 1 {
        return Ok(false);
    }
    if let Some(shown) = shown
        && !update_item(&tx, row, &shown).await?
    {
        return Ok(false);
    }
    tx.commit().await?;
    Ok(true)
}

/// Writes the state of a file into its message or comment. Returns false if that, or the file in it, is gone.
async fn update_item(tx: &Tx, row: &inbox_file::Model, shown: &Value) -> Result<bool> {
    let place = usize::try_from(row.place).map_err(Error::internal)?;
    let with = |mut files: Value| {
        let file = files.get_mut(place)?.as_object_mut()?;
        file.remove("reason");
        file.extend(shown.as_object()?.clone());
        Some(files)
    };
    match row.item {
        ItemKind::Message => {
            let found = inbox_message::Entity::find_by_id(MessageId(row.item_id));
            let found = found.one(tx.conn()).await?;
            let Some(files) = found.and_then(|found| with(found.attachments)) else {
                return Ok(false);
            };
            let change = inbox_message::ActiveModel {
                id: Set(MessageId(row.item_id)),
                attachments: Set(files),
                ..Default::default()
            };
            change.update(tx.conn()).await?;
        }
        ItemKind::Comment => {
            let found = inbox_comment::Entity::find_by_id(CommentId(row.item_id));
            let found = found.one(tx.conn()).await?;
            let Some(files) = found.and_then(|found| with(found.attachments)) else {
                return Ok(false);
            };
            let change = inbox_comment::ActiveModel {
                id: Set(CommentId(row.item_id)),
                attachments: Set(files),
                ..Default::default()
            };
            change.update(tx.conn()).await?;
        }
    }
    Ok(true)
}

/// Deletes the row of a file whose copy was removed.
///
/// # Errors
/// The database's; then its lease expires.
pub async fn delete(cx: &Domain, row: &inbox_file::Model) -> Result<()> {
    inbox_file::Entity::delete_by_id(InboxFileId(row.id.0))
        .filter(Column::FencingToken.eq(row.fencing_token))
        .exec(&cx.db.write)
        .await?;
    Ok(())
}
