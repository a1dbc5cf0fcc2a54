//! The public board, and its moderation by operators.

use fanfare_core::{
    Domain, Tx,
    error::{Code, Error, Result},
};
use fanfare_entities::{
    FeedbackId, Millis, feedback,
    feedback::{FeedbackCategory, FeedbackStatus},
};
use sea_orm::{
    ActiveEnum, ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait,
    QueryFilter, QueryOrder, QuerySelect,
};

/// The number of messages on a page.
const PAGE_SIZE: u64 = 50;

/// A message as everyone sees it, without its author.
#[derive(Debug, Clone)]
pub struct BoardMessage {
    /// Its id.
    pub id: FeedbackId,
    /// Its kind.
    pub category: String,
    /// Its title.
    pub title: String,
    /// Its text.
    pub description: String,
    /// Its status.
    pub status: String,
    /// True if it was taken off the board.
    pub hidden: bool,
    /// The time at which it was sent.
    pub created_at: Millis,
}

impl BoardMessage {
    fn of(row: feedback::Model) -> Self {
        Self {
            id: row.id,
            category: FeedbackCategory::to_value(&row.category),
            title: row.title,
            description: row.description,
            status: status_name(row.status),
            hidden: row.hidden,
            created_at: row.created_at,
        }
    }
}

/// Returns the newest messages on the board that are older than `before`.
///
/// # Errors
/// The database's.
pub async fn list(cx: &Domain, before: Option<FeedbackId>) -> Result<Vec<BoardMessage>> {
    let shown = feedback::Entity::find().filter(feedback::Column::Hidden.eq(false));
    read(cx, shown, before).await
}

/// Returns the same for operators, including messages that were taken off the board.
///
/// # Errors
/// The database's.
pub async fn list_all(cx: &Domain, before: Option<FeedbackId>) -> Result<Vec<BoardMessage>> {
    read(cx, feedback::Entity::find(), before).await
}

async fn read(
    cx: &Domain,
    rows: sea_orm::Select<feedback::Entity>,
    before: Option<FeedbackId>,
) -> Result<Vec<BoardMessage>> {
    let rows = match before {
        Some(before) => rows.filter(feedback::Column::Id.lt(before)),
        None => rows,
    };
    let newest = rows.order_by_desc(feedback::Column::Id).limit(PAGE_SIZE);
    Ok(newest.all(&cx.db.read).await?.into_iter().map(BoardMessage::of).collect())
}

/// Returns a message on the board.
///
/// # Errors
/// [`Code::NotFound`], also for a message that was taken off the board.
pub async fn find(cx: &Domain, id: FeedbackId) -> Result<BoardMessage> {
    let row = feedback::Entity::find_by_id(id).one(&cx.db.read).await?;
    let row = row.filter(|row| !row.hidden);
    row.map(BoardMessage::of).ok_or_else(|| Error::new(Code::NotFound, "There is no such message."))
}

/// Returns a message, even if it was taken off the board.
///
/// # Errors
/// [`Code::NotFound`].
pub async fn find_any(db: &impl ConnectionTrait, id: FeedbackId) -> Result<BoardMessage> {
    let row = feedback::Entity::find_by_id(id).one(db).await?;
    row.map(BoardMessage::of).ok_or_else(|| Error::new(Code::NotFound, "There is no such message."))
}

/// Sets the status of a message, and whether it is on the board.
///
/// # Errors
/// [`Code::NotFound`].
pub async fn moderate(tx: &Tx, id: FeedbackId, status: FeedbackStatus, hidden: bool) -> Result<()> {
    let row = find_any(tx.conn(), id).await?;
    let next = feedback::ActiveModel {
        id: Set(row.id),
        status: Set(status),
        hidden: Set(hidden),
        updated_at: Set(tx.now()),
        ..Default::default()
    };
    next.update(tx.conn()).await?;
    Ok(())
}

/// Returns the status with this name.
#[must_use]
pub fn status_named(name: &str) -> Option<FeedbackStatus> {
    FeedbackStatus::try_from_value(&name.to_owned()).ok()
}

/// Returns the name of a status.
#[must_use]
pub fn status_name(status: FeedbackStatus) -> String {
    FeedbackStatus::to_value(&status)
}
