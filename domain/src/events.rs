//! What happens in a workspace, told in order: to webhooks, to whoever polls, and on the activity list.

use std::collections::BTreeMap;

use fanfare_entities::{
    AccountId, BrandId, DeliveryId, EventId, Millis, PostId, WorkspaceId, webhook,
};
use sea_orm::{ConnectionTrait, DbErr, EntityTrait};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    db::statement,
    error::Result,
    rows::{Columns, Rows, Type},
};

/// The types of events that webhooks can ask for.
pub const TYPES: &[&str] = &[
    "webhook.test",
    "post.created",
    "post.updated",
    "post.deleted",
    "post.publishing",
    "post.published",
    "post.failed",
    "account.disconnected",
    "account.token_expiring",
    "analytics.synced",
];

/// An event about to be written.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// The workspace it happened in.
    pub workspace_id: WorkspaceId,
    /// One of [`TYPES`], or another name for what only the activity list shows.
    pub event_type: &'static str,
    /// False: activity only, without a place in the stream.
    pub streamed: bool,
    /// The payload, as JSON text.
    pub data: String,
    /// What it is about.
    pub post_id: Option<PostId>,
    /// What it is about.
    pub account_id: Option<AccountId>,
    /// Brand of what it is about.
    pub brand_id: Option<BrandId>,
    /// Platform of what it is about.
    pub platform: Option<String>,
    /// Status of the post after it.
    pub status: Option<String>,
    /// One sentence for people.
    pub message: String,
    /// The request that caused it.
    pub request_id: Option<String>,
}

/// Writes events and a delivery for each webhook that asked for them; returns the deliveries, all due now.
///
/// # Errors
/// The database's.
pub async fn append<C: ConnectionTrait>(
    conn: &C,
    events: Vec<NewEvent>,
    now: Millis,
) -> Result<Vec<(WorkspaceId, DeliveryId)>, DbErr> {
    let mut behind: BTreeMap<WorkspaceId, i64> = BTreeMap::new();
    for event in events.iter().filter(|event| event.streamed) {
        *behind.entry(event.workspace_id).or_default() += 1;
    }
    let mut counted = Rows::new(conn, &[("id", Type::Uuid), ("n", Type::Big)]);
    for (id, n) in &behind {
        counted.push([id.0.into(), (*n).into()]);
    }
    let mut written = Rows::new(conn, EVENT_COLUMNS);
    let mut told = Vec::new();
    for event in &events {
        let id = EventId::fresh();
        let behind = behind.get_mut(&event.workspace_id).filter(|_| event.streamed);
        let behind = behind.map(|behind| {
            *behind -= 1;
            *behind
        });
        written.push([
            id.0.into(),
            event.workspace_id.0.into(),
            behind.into(),
            event.event_type.into(),
            (&event.data).into(),
            event.post_id.map(|id| id.0).into(),
            event.account_id.map(|id| id.0).into(),
            event.brand_id.map(|id| id.0).into(),
            event.platform.as_ref().into(),
            event.status.as_ref().into(),
            (&event.message).into(),
            event.request_id.as_ref().into(),
            now.into(),
        ]);
        if event.streamed {
            told.push((id, event));
        }
    }
    let webhooks = write(conn, written, counted).await?;
    deliver(conn, &told, &webhooks, now).await
}

const EVENT_COLUMNS: Columns = &[
    ("id", Type::Uuid),
    ("workspace_id", Type::Uuid),
    // How many of the workspace's new events come behind it; null for one without a place in the stream.
    ("sequence", Type::Big),
    ("event_type", Type::Text),
    ("data", Type::Json),
    ("post_id", Type::Big),
    ("account_id", Type::Big),
    ("brand_id", Type::Uuid),
    ("platform", Type::Text),
    ("status", Type::Text),
    ("message", Type::Text),
    ("request_id", Type::Text),
    ("created_at", Type::Big),
];

/// Raises each workspace's counter by the number of its events, in the order of the workspaces' ids, writes the events
/// with the numbers that this gives them, and returns the webhooks of these workspaces: on PostgreSQL by one statement, so
/// that the counters are locked for as short a time as can be.
async fn write<C: ConnectionTrait>(
    conn: &C,
    events: Rows,
    counted: Rows,
) -> Result<Vec<webhook::Model>, DbErr> {
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<_> = EVENT_COLUMNS.iter().map(|(name, _)| *name).collect();
    let numbered = |counters: &str| {
        let shown = names.iter().map(|name| match *name {
            "sequence" => "counters.event_sequence - new.sequence".to_owned(),
            name => format!("new.{name}"),
        });
        let (names, shown) = (names.join(", "), shown.collect::<Vec<_>>().join(", "));
        format!(
            "INSERT INTO events ({names}) SELECT {shown} FROM new \
             LEFT JOIN {counters} AS counters ON counters.id = new.workspace_id"
        )
    };
    let webhooks = |of: &str| {
        format!("SELECT webhooks.* FROM {of} JOIN webhooks ON webhooks.workspace_id = counted.id")
    };
    let new = format!("WITH new AS (SELECT * FROM {})", events.from("given", 1));
    if conn.get_database_backend() == sea_orm::DbBackend::Postgres {
        let sql = format!(
            "{new}, counted AS (SELECT * FROM {}), \
             locked AS (SELECT w.id, counted.n FROM workspaces w JOIN counted ON counted.id = w.id \
             ORDER BY w.id FOR NO KEY UPDATE OF w), \
             raised AS (UPDATE workspaces w SET event_sequence = event_sequence + locked.n FROM locked \
             WHERE w.id = locked.id RETURNING w.id, w.event_sequence), \
             written AS ({}) {}",
            counted.from("given_counts", EVENT_COLUMNS.len() + 1),
            numbered("raised"),
            webhooks("counted"),
        );
        let values = events.values().chain(counted.values());
        let query = statement(conn, sql, values);
        return webhook::Entity::find().from_raw_sql(query).all(conn).await;
    }
    let raise = format!(
        "UPDATE workspaces SET event_sequence = event_sequence + counted.n FROM {} \
         WHERE workspaces.id = counted.id",
        counted.from("counted", 1)
    );
    let insert = format!("{new} {}", numbered("workspaces"));
    let told = webhooks(&counted.from("counted", 1));
    let counted: Vec<_> = counted.values().collect();
    conn.execute_raw(statement(conn, raise, counted.clone())).await?;
    conn.execute_raw(statement(conn, insert, events.values())).await?;
    webhook::Entity::find().from_raw_sql(statement(conn, told, counted)).all(conn).await
}

/// Writes the deliveries of these events.
async fn deliver<C: ConnectionTrait>(
    conn: &C,
    told: &[(EventId, &NewEvent)],
    webhooks: &[webhook::Model],
    now: Millis,
) -> Result<Vec<(WorkspaceId, DeliveryId)>, DbErr> {
    let mut deliveries = Vec::new();
    for (id, event) in told {
        let asked = webhooks.iter().filter(|hook| hook.workspace_id == event.workspace_id);
        for hook in asked.filter(|hook| wants(hook, event.event_type)) {
            let event_type = event.event_type;
            deliveries.push(NewDelivery { hook, event_id: id.0, event_type, body: None });
        }
    }
    let ids = insert_deliveries(conn, &deliveries, now).await?;
    Ok(deliveries.iter().map(|new| new.hook.workspace_id).zip(ids).collect())
}

/// True when the webhook asked for events of this type.
#[must_use]
pub fn wants(hook: &webhook::Model, event_type: &str) -> bool {
    let named = |name: &Value| name == "*" || name == event_type;
    hook.events.as_array().is_some_and(|names| names.iter().any(named))
}

/// A delivery about to be written, due now.
#[derive(Debug)]
pub struct NewDelivery<'a> {
    /// To whom.
    pub hook: &'a webhook::Model,
    /// Of what.
    pub event_id: Uuid,
    /// Type of the event.
    pub event_type: &'a str,
    /// What is sent, if it is not the stored event.
    pub body: Option<Value>,
}

/// Writes deliveries; returns their ids in the same order.
///
/// # Errors
/// The database's.
pub async fn insert_deliveries<C: ConnectionTrait>(
    conn: &C,
    deliveries: &[NewDelivery<'_>],
    now: Millis,
) -> Result<Vec<DeliveryId>, DbErr> {
    const COLUMNS: Columns = &[
        ("uid", Type::Uuid),
        ("workspace_id", Type::Uuid),
        ("webhook_id", Type::Uuid),
        ("event_id", Type::Uuid),
        ("event_type", Type::Text),
        ("body", Type::Json),
        ("status", Type::Text),
        ("due_at", Type::Big),
        ("last_error", Type::Text),
        ("created_at", Type::Big),
        ("updated_at", Type::Big),
    ];
    let mut rows = Rows::new(conn, COLUMNS);
    for new in deliveries {
        // What happens while a webhook is disabled is not sent later, but is there to be redelivered.
        let due = new.hook.enabled.then_some(now);
        let disabled = (!new.hook.enabled).then_some("the webhook was disabled");
        rows.push([
            Uuid::now_v7().into(),
            new.hook.workspace_id.0.into(),
            new.hook.id.0.into(),
            new.event_id.into(),
            new.event_type.into(),
            new.body.as_ref().into(),
            if new.hook.enabled { "pending" } else { "failed" }.into(),
            due.into(),
            disabled.into(),
            now.into(),
            now.into(),
        ]);
    }
    let ids = rows.insert_numbered(conn, "webhook_deliveries").await?;
    Ok(ids.into_iter().map(DeliveryId).collect())
}
