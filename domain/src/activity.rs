//! The event stream, to be polled by programs, and the activity list for people.

use fanfare_entities::event;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    Act, Reply,
    clock::show,
    error::{Code, Error, Result},
    input, page,
    webhooks::{Page, delivery::payload},
};

/// Which part of the event stream.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventsQuery {
    /// Only events with a higher sequence number.
    #[serde(default)]
    pub after: Option<i64>,
    /// 1 to 100, 20 if left out.
    #[serde(default)]
    pub limit: Option<i64>,
    /// `next_cursor` of the page before; the same as `after`.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub cursor: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

fn visible(act: &Act) -> sea_orm::Select<event::Entity> {
    let query =
        event::Entity::find().filter(event::Column::WorkspaceId.eq(act.membership.workspace_id));
    match &act.membership.brands {
        Some(brands) => query.filter(event::Column::BrandId.is_in(brands.iter().copied())),
        None => query,
    }
}

/// The events of the membership's workspace in their order, oldest first.
///
/// # Errors
/// A query that means nothing.
pub async fn events(act: &Act, query: EventsQuery) -> Result<Reply> {
    let limit = input::limit(query.limit)?;
    let after = input::cursor::<i64>(query.cursor.as_deref())?.or(query.after).unwrap_or(0);
    if after < 0 {
        let message = format!("after is {after}; it may be 0 or more.");
        let remedy = "Send the sequence of the last event you have, or 0 for the first.";
        return Err(Error::field(Code::InvalidField, "after", message, remedy));
    }
    let from = |last: Option<&event::Model>| {
        let after = last.and_then(|row| row.sequence).unwrap_or(after);
        let rest = visible(act).filter(event::Column::Sequence.gt(after));
        rest.order_by_asc(event::Column::Sequence)
    };
    let page = page::read(&act.cx.db.read, limit, from, |row| page::size(&row.data)).await?;
    let next = page.next(|row| row.sequence.unwrap_or_default().to_string());
    let events: Vec<_> = page.rows.iter().map(payload).collect();
    Ok(Reply::ok(json!({ "events": events, "next_cursor": next })))
}

/// Recent activity in the membership's workspace, newest first.
///
/// # Errors
/// A query that means nothing.
pub async fn activity(act: &Act, page: Page) -> Result<Reply> {
    let limit = input::limit(page.limit)?;
    let cursor = input::cursor::<Uuid>(page.cursor.as_deref())?;
    let from = |last: Option<&event::Model>| {
        let query = visible(act).order_by_desc(event::Column::Id);
        let below = last.map(|row| row.id.0).or(cursor);
        below.map_or(query.clone(), |below| query.filter(event::Column::Id.lt(below)))
    };
    let size = |row: &event::Model| page::size(&row.data) + row.message.len();
    let page = page::read(&act.cx.db.read, limit, from, size).await?;
    let next = page.next(|row| row.id.to_string());
    let entries: Vec<_> = page.rows.iter().map(entry).collect();
    Ok(Reply::ok(json!({ "activity": entries, "next_cursor": next })))
}

fn entry(row: &event::Model) -> Value {
    json!({
        "id": row.id, "type": row.event_type, "post_id": row.post_id, "account_id": row.account_id,
        "platform": row.platform, "status": row.status, "message": row.message,
        "request_id": row.request_id, "created_at": show(row.created_at),
    })
}
