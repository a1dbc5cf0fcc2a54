//! The outbox: writes events and their webhook deliveries in the transaction of the change, and numbers the events of each
//! workspace without gaps.

use std::collections::BTreeMap;

use fanfare_entities::{EventId, Millis, WorkspaceId};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, QueryResult, Value};

use super::NewEvent;
use crate::{
    db::statement,
    rows::{Columns, Rows, Type},
};

/// Events to be written by one statement.
pub struct Outbox {
    backend: DbBackend,
    given: Rows,
    /// SQLite: the number of events of each workspace, and the events to deliver.
    in_turn: Option<(Rows, Rows)>,
}

const EVENT_COLUMNS: Columns = &[
    // The order of the events.
    ("place", Type::Big),
    ("id", Type::Uuid),
    ("workspace_id", Type::Uuid),
    ("streamed", Type::Bool),
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

const COUNT_COLUMNS: Columns = &[("id", Type::Uuid), ("n", Type::Big)];

const DELIVERY_COLUMNS: Columns = &[
    ("place", Type::Big),
    ("id", Type::Uuid),
    ("workspace_id", Type::Uuid),
    ("event_type", Type::Text),
    ("created_at", Type::Big),
];

/// Selects `new`: each event with the number of later events of its workspace.
const SELECT_NEW: &str = "SELECT *, row_number() OVER \
     (PARTITION BY workspace_id, streamed ORDER BY place DESC) - 1 AS behind FROM";

impl Outbox {
    /// Creates an outbox of events that happen at `now`.
    pub fn of<C: ConnectionTrait>(conn: &C, events: &[NewEvent], now: Millis) -> Self {
        let backend = conn.get_database_backend();
        let mut given = Rows::new(conn, EVENT_COLUMNS);
        let mut told = Rows::new(conn, DELIVERY_COLUMNS);
        let mut counts: BTreeMap<WorkspaceId, i64> = BTreeMap::new();
        for (place, event) in (0_i64..).zip(events) {
            let (id, workspace) = (EventId::fresh().0, event.workspace_id);
            given.push([
                place.into(),
                id.into(),
                workspace.0.into(),
                event.streamed.into(),
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
            if event.streamed && backend != DbBackend::Postgres {
                *counts.entry(workspace).or_default() += 1;
                let event_type = event.event_type.into();
                told.push([place.into(), id.into(), workspace.0.into(), event_type, now.into()]);
            }
        }
        let in_turn = (backend != DbBackend::Postgres).then(|| {
            let mut counted = Rows::new(conn, COUNT_COLUMNS);
            for (workspace, n) in counts {
                counted.push([workspace.0.into(), n.into()]);
            }
            (counted, told)
        });
        Self { backend, given, in_turn }
    }

    /// Returns true if there are no events.
    pub const fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// PostgreSQL: returns the parts of a `WITH` that raise each workspace's counter, in the order of the workspaces'
    /// ids, write the events with the resulting numbers, and write the deliveries, which the last part, `delivered`,
    /// returns. Their parameters begin with `$first`. Only events that meet the condition `only` are written.
    pub fn parts(&self, first: usize, only: &str) -> String {
        format!(
            "new AS ({SELECT_NEW} {} WHERE {only}), \
             counted AS (SELECT workspace_id, count(*) AS n FROM new WHERE streamed GROUP BY workspace_id), \
             locked AS (SELECT w.id, counted.n FROM workspaces AS w JOIN counted ON counted.workspace_id = w.id \
             ORDER BY w.id FOR NO KEY UPDATE OF w), \
             raised AS (UPDATE workspaces AS w SET event_sequence = event_sequence + locked.n FROM locked \
             WHERE w.id = locked.id RETURNING w.id, w.event_sequence), \
             written AS ({}), \
             streamed AS (SELECT * FROM new WHERE streamed), \
             delivered AS ({})",
            self.given.from("given", first),
            events_from("raised"),
            deliveries_of(self.backend, "streamed"),
        )
    }

    /// Returns the parameters of [`Outbox::parts`].
    pub fn values(self) -> impl Iterator<Item = Value> {
        self.given.values()
    }

    /// PostgreSQL: writes everything in one statement, so that the counters are locked as briefly as possible.
    pub async fn write<C: ConnectionTrait>(self, conn: &C) -> Result<Vec<QueryResult>, DbErr> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!("WITH {} SELECT * FROM delivered", self.parts(1, "true"));
        conn.query_all_raw(statement(conn, sql, self.values())).await
    }

    /// SQLite: writes the same with one statement after another.
    pub async fn write_sqlite<C: ConnectionTrait>(
        self,
        conn: &C,
    ) -> Result<Vec<QueryResult>, DbErr> {
        let (false, Some((counted, told))) = (self.given.is_empty(), self.in_turn) else {
            return Ok(Vec::new());
        };
        let raise = format!(
            "UPDATE workspaces SET event_sequence = event_sequence + counted.n FROM {} \
             WHERE workspaces.id = counted.id",
            counted.from("counted", 1)
        );
        conn.execute_raw(statement(conn, raise, counted.values())).await?;
        let new = format!("WITH new AS ({SELECT_NEW} {})", self.given.from("given", 1));
        let insert = format!("{new} {}", events_from("workspaces"));
        conn.execute_raw(statement(conn, insert, self.given.values())).await?;
        let deliver = deliveries_of(self.backend, &told.from("streamed", 1));
        conn.query_all_raw(statement(conn, deliver, told.values())).await
    }
}

/// Returns the statement that writes the events in `new`, with numbers from these counters.
fn events_from(counters: &str) -> String {
    let names: Vec<_> = EVENT_COLUMNS.iter().map(|(name, _)| *name).collect();
    let kept = names.iter().filter(|name| !matches!(**name, "place" | "streamed"));
    let names = kept.copied().collect::<Vec<_>>();
    format!(
        "INSERT INTO events (sequence, {}) \
         SELECT CASE WHEN new.streamed THEN counters.event_sequence - new.behind END, new.{} FROM new \
         LEFT JOIN {counters} AS counters ON counters.id = new.workspace_id",
        names.join(", "),
        names.join(", new.")
    )
}

/// Returns the statement that writes a delivery of each event of `streamed` for each webhook that subscribes to it. An
/// event that happens while a webhook is disabled is not sent later, but can be redelivered.
fn deliveries_of(backend: DbBackend, streamed: &str) -> String {
    // A UUID of version 7, with the time of the event's id.
    let (uid, asked, lock) = match backend {
        DbBackend::Postgres => (
            "overlay(gen_random_uuid()::text placing left(streamed.id::text, 15) from 1)::uuid",
            "json_array_elements_text(hooks.events) AS asked(value)",
            // A webhook that is being deleted gets no delivery that would stay behind.
            "FOR KEY SHARE OF hooks",
        ),
        _ => (
            "unhex(substr(hex(streamed.id), 1, 13) || substr(hex(randomblob(2)), 1, 3) \
             || 'B' || substr(hex(randomblob(8)), 1, 15))",
            "json_each(hooks.events) AS asked",
            "",
        ),
    };
    format!(
        "INSERT INTO webhook_deliveries (uid, workspace_id, webhook_id, event_id, event_type, status, due_at, \
         last_error, created_at, updated_at) \
         SELECT {uid}, hooks.workspace_id, hooks.id, streamed.id, streamed.event_type, \
         CASE WHEN hooks.enabled THEN 'pending' ELSE 'failed' END, \
         CASE WHEN hooks.enabled THEN streamed.created_at END, \
         CASE WHEN NOT hooks.enabled THEN 'the webhook was disabled' END, \
         streamed.created_at, streamed.created_at \
         FROM {streamed} JOIN webhooks AS hooks ON hooks.workspace_id = streamed.workspace_id \
         WHERE EXISTS (SELECT 1 FROM {asked} WHERE asked.value IN ('*', streamed.event_type)) \
         ORDER BY streamed.place, hooks.id {lock} RETURNING id, workspace_id, due_at"
    )
}
