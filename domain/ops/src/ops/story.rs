//! The whole history of one row: its status, leases, attempts, events and deliveries.

use std::collections::BTreeSet;

use fanfare_core::{
    Domain,
    error::{Code, Error, Result},
};
use fanfare_entities::{
    EventId, Millis, PostId, WorkspaceId, account, event, media_asset, post, post_attempt, webhook,
    webhook_delivery, workspace,
};
use fanfare_jobs::JobKind;
use fanfare_publishing::posts;
use sea_orm::{ActiveEnum, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::Serialize;
use serde_json::Value;

use super::{
    failing_webhooks,
    search::{WorkKind, expired_leases},
};

/// The most events and deliveries of a history.
const MAX_ROWS: u64 = 200;

/// The history of a row.
#[derive(Debug, Clone, Serialize)]
pub struct Story {
    /// Kind of work.
    pub kind: &'static str,
    /// The row.
    pub id: i64,
    /// A title of the row.
    pub title: String,
    /// Its status.
    pub status: String,
    /// One sentence on what happens next.
    pub next: String,
    /// What a post waits for, as its owner reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<posts::Waiting>,
    /// Its work columns and related facts, in order.
    pub facts: Vec<(&'static str, String)>,
    /// Times among the facts.
    pub times: Vec<(&'static str, Option<Millis>)>,
    /// The last error, as the API shows it.
    pub error: Option<Value>,
    /// True if it has failed and can be sent again.
    pub can_retry: bool,
    /// True if it may be public although it failed.
    pub risky: bool,
    /// The post that a delivery is about.
    pub post: Option<PostId>,
    /// Every attempt, oldest first.
    pub attempts: Vec<StoryAttempt>,
    /// Its events, oldest first.
    pub events: Vec<StoryEvent>,
    /// The webhook deliveries of these events.
    pub deliveries: Vec<StoryDelivery>,
}

/// An attempt to publish.
#[derive(Debug, Clone, Serialize)]
pub struct StoryAttempt {
    /// The number of the attempt, from 1.
    pub number: i32,
    /// The worker.
    pub worker: String,
    /// The time at which it began.
    pub started_at: Millis,
    /// The time at which it ended.
    pub ended_at: Option<Millis>,
    /// The outcome.
    pub outcome: Option<String>,
    /// The error with the network's redacted reply.
    pub error: Option<Value>,
    /// List of `{name, phase, started_at, ended_at, remote_id}`.
    pub steps: Value,
}

/// An event.
#[derive(Debug, Clone, Serialize)]
pub struct StoryEvent {
    /// The time of the action.
    pub at: Millis,
    /// Type.
    pub event_type: String,
    /// For people.
    pub message: String,
    /// The request that caused it.
    pub request_id: Option<String>,
}

/// A webhook delivery of one of the events.
#[derive(Debug, Clone, Serialize)]
pub struct StoryDelivery {
    /// The row.
    pub id: i64,
    /// Type of the event.
    pub event_type: String,
    /// The address, without parts that may be secret.
    pub address: String,
    /// Its status.
    pub status: String,
    /// The number of attempts so far.
    pub tries: i32,
    /// HTTP status of the last one.
    pub last_status: Option<i32>,
}

/// Returns the history of a row.
///
/// # Errors
/// [`Code::NotFound`].
pub async fn story(cx: &Domain, kind: WorkKind, id: i64) -> Result<Story> {
    let (mut story, queue) = match kind {
        WorkKind::Post => (of_post(cx, id).await?, JobKind::PublishPost),
        WorkKind::Delivery => (of_delivery(cx, id).await?, JobKind::DeliverWebhook),
        WorkKind::Copy => (of_copy(cx, id).await?, JobKind::CopyMedia),
    };
    let place = match cx.queue.position(queue, id).await {
        Ok(Some(before)) => format!("its id waits behind {before} others"),
        Ok(None) => "its id does not wait".to_owned(),
        Err(_) => "not known: the queue does not answer".to_owned(),
    };
    story.facts.push(("Queue", place));
    Ok(story)
}

fn missing(kind: WorkKind, id: i64) -> Error {
    Error::new(Code::NotFound, format!("There is no {} {id}.", kind.as_str()))
}

async fn of_post(cx: &Domain, id: i64) -> Result<Story> {
    let db = &cx.db.read;
    let row = post::Entity::find_by_id(PostId(id)).one(db).await?;
    let Some(row) = row else { return of_deleted_post(cx, id).await };
    let account = account::Entity::find_by_id(row.account_id).one(db).await?;
    let space = workspace::Entity::find_by_id(row.workspace_id).one(db).await?;
    let waiting = posts::waiting_of(cx, std::slice::from_ref(&row)).await?.remove(&row.id);
    let events = events(cx, row.id).await?;
    let named = account.as_ref().map_or("gone", |account| account.username.as_str());
    Ok(Story {
        kind: WorkKind::Post.as_str(),
        id,
        title: format!("Post {id} on {}", row.platform),
        status: posts::status_name(row.status).to_owned(),
        next: next_of_post(&row, waiting.as_ref()),
        facts: vec![
            ("Workspace", named_workspace(space.as_ref(), row.workspace_id)),
            ("Account", format!("{} ({named})", row.account_id)),
            ("Type", row.post_type.clone()),
            // Its text is for its owner alone.
            ("Caption", format!("{} characters", row.caption.chars().count())),
            (
                "On the network",
                row.platform_post_url.clone().or(row.platform_post_id.clone()).unwrap_or_default(),
            ),
            ("Fencing token", row.fencing_token.to_string()),
            ("Failed attempts", row.attempts.to_string()),
            (
                "Lapsed leases in a row",
                expired_leases(row.lease_expirations, row.due_at, cx.clock.now()).to_string(),
            ),
            ("Request", row.request_id.clone()),
        ],
        times: vec![
            ("Created", Some(row.created_at)),
            ("Scheduled for", row.scheduled_at),
            ("Due, or end of the lease", row.due_at),
            ("Call begun and not settled", row.sending_at),
            ("Deadline of that call", row.sending_until),
            ("Asked about since", row.reconciling_at),
            ("Next try", row.next_attempt_at),
            ("Waits since", waiting.as_ref().and_then(|waiting| waiting.since).map(|at| at.0)),
            ("Waits until", waiting.as_ref().and_then(|waiting| waiting.until).map(|at| at.0)),
            ("Public since", row.public_at),
            ("Last changed", Some(row.updated_at)),
        ],
        can_retry: row.status == posts::PostStatus::Failed,
        risky: row.duplicate_risk,
        post: None,
        attempts: attempts(cx, &row).await?,
        deliveries: deliveries(cx, row.workspace_id, &events).await?,
        events: events.into_iter().map(event).collect(),
        error: row.error,
        waiting,
    })
}

fn named_workspace(space: Option<&workspace::Model>, id: WorkspaceId) -> String {
    space.map_or_else(|| id.to_string(), |space| format!("{} ({id})", space.name))
}

/// Returns the history of a post that is gone: its events tell who deleted it, and what had become of it.
async fn of_deleted_post(cx: &Domain, id: i64) -> Result<Story> {
    let db = &cx.db.read;
    let events = events(cx, PostId(id)).await?;
    let last = events.last().ok_or_else(|| missing(WorkKind::Post, id))?;
    let space = workspace::Entity::find_by_id(last.workspace_id).one(db).await?;
    let account = match last.account_id {
        Some(id) => account::Entity::find_by_id(id).one(db).await?,
        None => None,
    };
    let found = |field: &str| last.data["post"][field].as_str().unwrap_or_default().to_owned();
    let platform = last.platform.clone().unwrap_or_default();
    Ok(Story {
        kind: WorkKind::Post.as_str(),
        id,
        title: format!("Post {id} on {platform}"),
        status: "deleted".to_owned(),
        next: "Nothing: it was deleted. Its events are kept for as long as those of other posts."
            .to_owned(),
        facts: vec![
            ("Workspace", named_workspace(space.as_ref(), last.workspace_id)),
            (
                "Account",
                account.map_or_else(String::new, |it| format!("{} ({})", it.id, it.username)),
            ),
            ("Last status", found("status")),
            ("On the network", found("platform_post_url")),
            ("Request", last.request_id.clone().unwrap_or_default()),
        ],
        times: vec![("Deleted", Some(last.created_at))],
        deliveries: deliveries(cx, last.workspace_id, &events).await?,
        events: events.into_iter().map(event).collect(),
        ..empty()
    })
}

fn next_of_post(row: &post::Model, waiting: Option<&posts::Waiting>) -> String {
    use posts::PostStatus as Status;
    if let Some(waiting) = waiting {
        return waiting.message.clone();
    }
    match row.status {
        Status::Published => "Nothing: it is public.".into(),
        Status::Failed => "Nothing happens until it is sent again.".into(),
        Status::Draft => "Nothing: it is a draft.".into(),
        _ => "A worker is working on it; if its lease expires, another worker takes over.".into(),
    }
}

async fn attempts(cx: &Domain, row: &post::Model) -> Result<Vec<StoryAttempt>> {
    let rows = post_attempt::Entity::find()
        .filter(post_attempt::Column::PostId.eq(row.id))
        .order_by_asc(post_attempt::Column::Number)
        .all(&cx.db.read)
        .await?;
    let view = |row: post_attempt::Model| StoryAttempt {
        number: row.number,
        worker: row.worker,
        started_at: row.started_at,
        ended_at: row.ended_at,
        outcome: row.outcome,
        error: row.error,
        steps: row.steps,
    };
    Ok(rows.into_iter().map(view).collect())
}

/// Returns the events of a post, also of one that was deleted.
async fn events(cx: &Domain, post: PostId) -> Result<Vec<event::Model>> {
    let mut rows = event::Entity::find()
        .filter(event::Column::PostId.eq(post))
        .order_by_desc(event::Column::Id)
        .limit(MAX_ROWS)
        .all(&cx.db.read)
        .await?;
    rows.reverse();
    Ok(rows)
}

fn event(row: event::Model) -> StoryEvent {
    StoryEvent {
        at: row.created_at,
        event_type: row.event_type,
        message: row.message,
        request_id: row.request_id,
    }
}

async fn deliveries(
    cx: &Domain,
    workspace: WorkspaceId,
    events: &[event::Model],
) -> Result<Vec<StoryDelivery>> {
    let db = &cx.db.read;
    let hooks =
        webhook::Entity::find().filter(webhook::Column::WorkspaceId.eq(workspace)).all(db).await?;
    let ids: BTreeSet<_> = events.iter().map(|event| event.id.0).collect();
    let rows = webhook_delivery::Entity::find()
        .filter(webhook_delivery::Column::EventId.is_in(ids))
        .order_by_asc(webhook_delivery::Column::Id)
        .limit(MAX_ROWS)
        .all(db)
        .await?;
    let view = |row: webhook_delivery::Model| StoryDelivery {
        id: row.id.0,
        address: hooks
            .iter()
            .find(|hook| hook.id == row.webhook_id)
            .map_or_else(String::new, |hook| failing_webhooks::redacted_address(&hook.url)),
        event_type: row.event_type,
        status: row.status.to_value(),
        tries: row.attempts,
        last_status: row.last_status,
    };
    Ok(rows.into_iter().map(view).collect())
}

async fn of_delivery(cx: &Domain, id: i64) -> Result<Story> {
    let db = &cx.db.read;
    let row =
        webhook_delivery::Entity::find_by_id(fanfare_entities::DeliveryId(id)).one(db).await?;
    let row = row.ok_or_else(|| missing(WorkKind::Delivery, id))?;
    let hook = webhook::Entity::find_by_id(row.webhook_id).one(db).await?;
    let event = event::Entity::find_by_id(EventId(row.event_id)).one(db).await?;
    let space = workspace::Entity::find_by_id(row.workspace_id).one(db).await?;
    Ok(Story {
        kind: WorkKind::Delivery.as_str(),
        id,
        title: format!("Delivery {id} of {}", row.event_type),
        status: row.status.to_value(),
        next: next_of((row.due_at, row.lease_expirations), cx.clock.now()),
        facts: vec![
            ("Workspace", named_workspace(space.as_ref(), row.workspace_id)),
            ("Webhook", row.webhook_id.to_string()),
            (
                "Address",
                hook.map_or_else(String::new, |hook| failing_webhooks::redacted_address(&hook.url)),
            ),
            ("Public id", row.uid.to_string()),
            ("Event", row.event_id.to_string()),
            ("Tries", row.attempts.to_string()),
            ("Last status", row.last_status.map_or_else(String::new, |code| code.to_string())),
            ("Last error", row.last_error.unwrap_or_default()),
            ("Fencing token", row.fencing_token.to_string()),
            (
                "Lapsed leases in a row",
                expired_leases(row.lease_expirations, row.due_at, cx.clock.now()).to_string(),
            ),
        ],
        times: times(row.created_at, row.due_at, row.updated_at),
        post: event.and_then(|event| event.post_id),
        ..empty()
    })
}

async fn of_copy(cx: &Domain, id: i64) -> Result<Story> {
    let db = &cx.db.read;
    let row = media_asset::Entity::find_by_id(fanfare_entities::AssetId(id)).one(db).await?;
    let row = row.ok_or_else(|| missing(WorkKind::Copy, id))?;
    let space = workspace::Entity::find_by_id(row.workspace_id).one(db).await?;
    Ok(Story {
        kind: WorkKind::Copy.as_str(),
        id,
        title: format!("Copy {id}: {}", row.filename),
        status: row.status.to_value(),
        next: next_of((row.due_at, row.lease_expirations), cx.clock.now()),
        facts: vec![
            ("Workspace", named_workspace(space.as_ref(), row.workspace_id)),
            (
                "From",
                row.source_url
                    .as_deref()
                    .map(failing_webhooks::redacted_address)
                    .unwrap_or_default(),
            ),
            ("Type", row.mime.unwrap_or_default()),
            ("Bytes", row.bytes.map_or_else(String::new, |bytes| bytes.to_string())),
            ("Failed attempts", row.attempts.to_string()),
            ("Fencing token", row.fencing_token.to_string()),
            (
                "Lapsed leases in a row",
                expired_leases(row.lease_expirations, row.due_at, cx.clock.now()).to_string(),
            ),
        ],
        times: times(row.created_at, row.due_at, row.updated_at),
        error: row.error,
        ..empty()
    })
}

fn next_of((due_at, lease_expirations): (Option<Millis>, i32), now: Millis) -> String {
    match due_at {
        None => "Nothing is due.".into(),
        Some(due) if due <= now => "It is due; the next free worker takes it.".into(),
        Some(_) if lease_expirations > 0 => {
            "A worker is working on it; if its lease expires, another worker takes over.".into()
        }
        Some(_) => "It waits for its next try.".into(),
    }
}

fn times(
    created: Millis,
    due: Option<Millis>,
    updated: Millis,
) -> Vec<(&'static str, Option<Millis>)> {
    vec![
        ("Created", Some(created)),
        ("Due, or end of the lease", due),
        ("Last changed", Some(updated)),
    ]
}

const fn empty() -> Story {
    Story {
        kind: "",
        id: 0,
        title: String::new(),
        status: String::new(),
        next: String::new(),
        waiting: None,
        facts: Vec::new(),
        times: Vec::new(),
        error: None,
        can_retry: false,
        risky: false,
        post: None,
        attempts: Vec::new(),
        events: Vec::new(),
        deliveries: Vec::new(),
    }
}
