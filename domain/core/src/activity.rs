//! The event stream that programs poll, and the activity list for people.

use fanfare_entities::{AccountId, EventId, Millis, PostId, WorkspaceId, event, workspace};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::{
    Act, Reply,
    clock::Time,
    error::{Code, Error, Result, excerpt},
    events, input,
    json_size::json_size,
    page::{self, Listed},
};

/// The part of the event stream to read.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventsQuery {
    /// Only events with a higher sequence number.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub after: Option<i64>,
    /// Only events of this type, for example `post.failed`, or of these, separated by commas.
    #[serde(default, rename = "type")]
    #[schemars(length(max = 500))]
    pub event_type: Option<String>,
    /// Only events about this account or its posts.
    #[serde(default)]
    pub account_id: Option<i64>,
    /// 1 to 100, 20 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<i64>,
    /// `next_cursor` of the page before; the same as `after`.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub cursor: Option<String>,
    /// Answer when there is an event, or after so many seconds, 0 to 25. Left out: at once. It counts as one request.
    #[serde(default)]
    #[schemars(range(min = 0, max = 25))]
    pub wait: Option<i64>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// The part of the activity list to read.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActivityQuery {
    /// 1 to 100, 20 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<i64>,
    /// `next_cursor` of the page before.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub cursor: Option<String>,
    /// In place of a cursor: the number of entries before the page, 0 to 10,000.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000))]
    pub offset: Option<i64>,
    /// Only what happened at this time or later; RFC 3339 with an offset.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub since: Option<String>,
    /// Only entries about this post.
    #[serde(default)]
    pub post_id: Option<i64>,
    /// Only entries of this type, for example `post.failed`, or of these, separated by commas.
    #[serde(default, rename = "type")]
    #[schemars(length(max = 500))]
    pub event_type: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// The longest time by which the clock of a machine may be behind the database's, in ms.
const CLOCKS_APART: Millis = 10 * 60_000;

/// Types of entries that are in the activity list alone.
const LISTED_ONLY: &[&str] =
    &["webhook.disabled", "analytics.posts_refused", "inbox.items_unread", "reviews.items_unread"];

/// Selects the entries that the query asks for.
fn filtered(act: &Act, query: &ActivityQuery) -> Result<sea_orm::Select<event::Entity>> {
    let mut entries = visible(act);
    if let Some(since) = &query.since {
        let since = input::time("since", since, None)?;
        // Ids are indexed and begin with the time on the machine that made them; `created_at` decides.
        entries = entries.filter(event::Column::Id.gte(events::first_id_at(since - CLOCKS_APART)));
        entries = entries.filter(event::Column::CreatedAt.gte(since));
    }
    if let Some(post) = query.post_id {
        entries = entries.filter(event::Column::PostId.eq(post));
    }
    let known = [events::TYPES, LISTED_ONLY].concat();
    if let Some(types) = types_named(query.event_type.as_deref(), &known)? {
        entries = entries.filter(input::one_of(event::Column::EventType, types));
    }
    Ok(entries)
}

/// Reads the types that a filter names, which must be among `known`.
fn types_named(text: Option<&str>, known: &[&'static str]) -> Result<Option<Vec<&'static str>>> {
    input::several(text, |name| {
        known.iter().copied().find(|known| *known == name).ok_or_else(|| {
            let message = format!("There is no type {:?}.", excerpt(name));
            let remedy = format!("Use some of: {}.", known.join(", "));
            Error::field(Code::InvalidField, "type", message, remedy)
        })
    })
}

fn visible(act: &Act) -> sea_orm::Select<event::Entity> {
    let query =
        event::Entity::find().filter(event::Column::WorkspaceId.eq(act.membership.workspace_id));
    match &act.membership.brands {
        Some(brands) => query.filter(event::Column::BrandId.is_in(brands.iter().copied())),
        None => query,
    }
}

/// Lists the events of the membership's workspace in their order, oldest first.
///
/// # Errors
/// An invalid query.
pub async fn events(act: &Act, query: EventsQuery) -> Result<Reply<Listed<EventPage>>> {
    let limit = input::limit(query.limit)?;
    let after = input::cursor::<i64>(query.cursor.as_deref())?.or(query.after).unwrap_or(0);
    if after < 0 {
        let message = format!("after is {after}; it may be 0 or more.");
        let remedy = "Send the sequence of the last event you have, or 0 for the first.";
        return Err(Error::field(Code::InvalidField, "after", message, remedy));
    }
    // Read before the page: what it does not show up to here is of no interest to its reader.
    let latest_sequence = latest_sequence(act).await?;
    if after > latest_sequence {
        let message = format!(
            "There is no event {after} yet: the latest is {latest_sequence}. The database may have been restored."
        );
        return Err(Error::new(Code::SequenceUnknown, message));
    }
    let types = types_named(query.event_type.as_deref(), events::TYPES)?;
    let from = |last: Option<&event::Model>| {
        let after = last.and_then(|row| row.sequence).unwrap_or(after);
        let mut rest = visible(act).filter(event::Column::Sequence.gt(after));
        if let Some(types) = &types {
            rest = rest.filter(input::one_of(event::Column::EventType, types.clone()));
        }
        if let Some(account) = query.account_id {
            rest = rest.filter(event::Column::AccountId.eq(account));
        }
        rest.order_by_asc(event::Column::Sequence)
    };
    let page = page::read(&act.cx.db.read, limit, from, |row| json_size(&row.data)).await?;
    let last = page.rows.last().and_then(|row| row.sequence).unwrap_or(after);
    let next = if page.more { last } else { last.max(latest_sequence) };
    let (bytes, has_more) = (page.bytes, page.more);
    let streamed = visible(act).filter(event::Column::Sequence.gt(0));
    let place = (page.rows.is_empty(), after > 0);
    let why = page::why_empty(&act.cx.db.read, place, streamed).await?;
    let listed = move || {
        let events = EventPage {
            events: page.rows.into_iter().map(Event::of).collect(),
            next_cursor: next.to_string(),
            has_more,
            latest_sequence: latest_sequence.max(last),
        };
        Listed::new(events, why)
    };
    Reply::large(bytes, listed).await
}

/// Returns the number of the latest event in the workspace's stream; 0 if there is none.
///
/// # Errors
/// The database's.
pub async fn latest_sequence(act: &Act) -> Result<i64> {
    let latest = workspace::Entity::find_by_id(act.membership.workspace_id)
        .select_only()
        .column(workspace::Column::EventSequence)
        .into_tuple::<i64>()
        .one(&act.cx.db.read)
        .await?;
    Ok(latest.unwrap_or_default())
}

/// Lists recent activity in the membership's workspace, newest first.
///
/// # Errors
/// An invalid query.
pub async fn activity(act: &Act, query: ActivityQuery) -> Result<Reply<Listed<ActivityPage>>> {
    let limit = input::limit(query.limit)?;
    input::require_one_start(query.offset, query.cursor.as_deref())?;
    let offset = input::offset(query.offset)?;
    let cursor = input::cursor::<Uuid>(query.cursor.as_deref())?;
    let asked = filtered(act, &query)?.order_by_desc(event::Column::Id);
    let from = |last: Option<&event::Model>| {
        let below = last.map(|row| row.id.0).or(cursor);
        match below {
            Some(below) => asked.clone().filter(event::Column::Id.lt(below)),
            None => asked.clone().offset((offset > 0).then_some(offset)),
        }
    };
    let size = |row: &event::Model| row.message.len() + 500;
    let page = page::read(&act.cx.db.read, limit, from, size).await?;
    let next_cursor = page.next(|row| row.id.to_string());
    let place = (page.rows.is_empty(), offset > 0 || cursor.is_some());
    let why = page::why_empty(&act.cx.db.read, place, visible(act)).await?;
    let activity = page.rows.into_iter().map(Entry::of).collect();
    Ok(Reply::ok(&Listed::new(ActivityPage { activity, next_cursor }, why)))
}

/// An event, as it is sent to webhooks and as it is polled.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Event {
    id: EventId,
    /// Its type, for example `post.published`.
    #[serde(rename = "type")]
    #[schemars(schema_with = "types")]
    event_type: String,
    created_at: Time,
    workspace_id: WorkspaceId,
    /// Its number in the workspace's stream, from 1, without gaps. A `webhook.test` has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<i64>,
    /// The object that it is about, such as `post` or `account`, as it was then. The conditions of this schema say for each
    /// type what it holds.
    #[schemars(with = "Map<String, Value>")]
    data: Value,
}

fn types(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": events::TYPES})
}

impl Event {
    /// Converts a row to an event.
    #[must_use]
    pub fn of(row: event::Model) -> Self {
        Self {
            id: row.id,
            event_type: row.event_type,
            created_at: Time(row.created_at),
            workspace_id: row.workspace_id,
            sequence: row.sequence,
            data: row.data,
        }
    }

    /// Returns a test event that is sent to one webhook only.
    #[must_use]
    pub fn test(id: Uuid, now: Millis, workspace_id: WorkspaceId, data: Value) -> Self {
        Self {
            id: EventId(id),
            event_type: "webhook.test".to_owned(),
            created_at: Time(now),
            workspace_id,
            sequence: None,
            data,
        }
    }
}

/// A page of the event stream.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct EventPage {
    events: Vec<Event>,
    /// The cursor of what comes next: send it again until there is more.
    next_cursor: String,
    /// True if more events are there already.
    has_more: bool,
    /// The number of the latest event of the workspace, whatever the filter; 0 if there is none. Events are kept for 30
    /// days.
    latest_sequence: i64,
}

/// An entry of the activity list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Activity")]
struct Entry {
    id: EventId,
    /// A type of events, or a type that only this list has: `webhook.disabled`; `analytics.posts_refused`: posts whose numbers
    /// the network does not tell, once a day for each of its reasons; `inbox.items_unread` and `reviews.items_unread`:
    /// messages, comments or reviews that the network lists in a form that is not known here, once a day.
    #[serde(rename = "type")]
    event_type: String,
    post_id: Option<PostId>,
    account_id: Option<AccountId>,
    platform: Option<String>,
    /// Status of the post after it.
    status: Option<String>,
    /// A description for people.
    message: String,
    /// The request that caused it.
    request_id: Option<String>,
    created_at: Time,
}

impl Entry {
    fn of(row: event::Model) -> Self {
        Self {
            id: row.id,
            event_type: row.event_type,
            post_id: row.post_id,
            account_id: row.account_id,
            platform: row.platform,
            status: row.status,
            message: row.message,
            request_id: row.request_id,
            created_at: Time(row.created_at),
        }
    }
}

/// A page of the activity list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ActivityPage {
    activity: Vec<Entry>,
    /// The cursor of the next page; null on the last one.
    next_cursor: Option<String>,
}
