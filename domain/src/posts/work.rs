//! The statements of the publish protocol, each for a group of posts at once.
//!
//! Claim, arm and record are the only ways a worker changes a post. Each is guarded by the fence: a worker that has lost
//! its row (to an edit, a pause, a delete, or another worker after a lapsed lease) changes nothing and is told so.

use std::collections::{BTreeSet, HashMap};

use fanfare_entities::{Millis, account, post, post::PostStatus, secret};
use fanfare_jobs::Kind;
use sea_orm::{
    ActiveEnum, ColumnTrait, ConnectionTrait, DbErr, EntityTrait, FromQueryResult, QueryFilter,
    SelectModel, SelectorRaw,
};
use serde_json::Value as Json;

use super::event;
use crate::{
    Domain, Tx,
    db::statement,
    error::Result,
    rows::{Columns, Rows, Type},
    work::{self, Hold},
};

/// What a claim sets beside the lease. At its time a scheduled post becomes `publishing`; `announced_fence` is set by
/// the first such claim since it was scheduled, so that the event is told once.
const TAKE: &str = ", \
     announced_fence = CASE WHEN status = 'scheduled' AND scheduled_at <= $1 AND announced_fence IS NULL \
     THEN fence + 1 ELSE announced_fence END, \
     status = CASE WHEN status = 'scheduled' AND scheduled_at <= $1 THEN 'publishing' ELSE status END";

/// Takes those of `ids` that are due. A post whose time has come is told of as `post.publishing`.
///
/// # Errors
/// The database's. The rows may have been taken all the same; then their leases lapse.
pub async fn claim(cx: &Domain, ids: Vec<i64>) -> Result<Vec<Claimed>> {
    let mut tx = Tx::begin(cx).await?;
    let now = cx.clock.now();
    let taken: Vec<post::Model> =
        work::claim(tx.conn(), Kind::PublishPost, &ids, now, TAKE).await?;
    for row in taken.iter().filter(|row| row.announced_fence == Some(row.fence)) {
        tx.emit(told("post.publishing", row, "The post's time has come.".to_owned()));
    }
    tx.commit().await?;
    with_accounts(cx, taken).await
}

/// A post that was claimed, with what is needed to reach its network.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The row.
    pub post: post::Model,
    /// Its account; absent if it is gone.
    pub account: Option<account::Model>,
    /// The account's encrypted credentials; absent once it is disconnected.
    pub secret: Option<secret::Model>,
}

/// Reads the accounts and secrets of a group in two statements.
async fn with_accounts(cx: &Domain, posts: Vec<post::Model>) -> Result<Vec<Claimed>> {
    if posts.is_empty() {
        return Ok(Vec::new());
    }
    let db = &cx.db.read;
    let ids: BTreeSet<_> = posts.iter().map(|post| post.account_id).collect();
    let accounts = account::Entity::find().filter(account::Column::Id.is_in(ids)).all(db).await?;
    let ids: Vec<_> = accounts.iter().filter_map(|account| account.secret_id).collect();
    let secrets = secret::Entity::find().filter(secret::Column::Id.is_in(ids)).all(db).await?;
    let claimed = posts.into_iter().map(|post| {
        let account = accounts.iter().find(|account| account.id == post.account_id).cloned();
        let id = account.as_ref().and_then(|account| account.secret_id);
        let secret = id.and_then(|id| secrets.iter().find(|secret| secret.id == id)).cloned();
        Claimed { post, account, secret }
    });
    Ok(claimed.collect())
}

fn told(event_type: &'static str, row: &post::Model, message: String) -> crate::events::NewEvent {
    event(event_type, row, message, Some(row.request_id.clone()))
}

/// An attempt as the ledger keeps it.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// 1 for the first.
    pub number: i32,
    /// Who tries.
    pub worker: String,
    /// When it began.
    pub started_at: Millis,
    /// When it ended, if it has.
    pub ended_at: Option<Millis>,
    /// How it ended, if it has.
    pub outcome: Option<&'static str>,
    /// What went wrong.
    pub error: Option<Json>,
    /// The steps so far, the running one without an end.
    pub steps: Json,
}

/// A step about to be taken: written before the remote call.
#[derive(Debug, Clone)]
pub struct Armed {
    /// The row.
    pub hold: Hold,
    /// The attempt with the step.
    pub attempt: Attempt,
    /// For a commit call: when it starts and its deadline.
    pub sending: Option<(Millis, Millis)>,
    /// The lease lasts at least until then.
    pub lease_until: Millis,
}

/// Writes the steps down; says for each whether the row is still held. Only then may the call be made.
///
/// # Errors
/// The database's: no call may be made.
pub async fn arm(cx: &Domain, armed: Vec<Armed>) -> Result<Vec<bool>> {
    const COLUMNS: Columns = &[
        ("id", Type::Big),
        ("fence", Type::Big),
        ("attempt", Type::Int),
        ("steps", Type::Json),
        ("sending_at", Type::Big),
        ("sending_until", Type::Big),
        ("due_at", Type::Big),
    ];
    let tx = Tx::begin(cx).await?;
    let conn = tx.conn();
    let mut values = Rows::new(conn, COLUMNS);
    for one in &armed {
        values.push([
            one.hold.id.into(),
            one.hold.fence.into(),
            one.attempt.number.into(),
            (&one.attempt.steps).into(),
            one.sending.map(|(from, _)| from).into(),
            one.sending.map(|(_, until)| until).into(),
            one.lease_until.into(),
        ]);
    }
    // A lease that lasts long enough stays as it is: then no index changes, and PostgreSQL updates the row in place.
    let sql = format!(
        "UPDATE posts SET attempt = u.attempt, steps = u.steps, rung_at = NULL, \
         due_at = CASE WHEN posts.due_at < u.due_at THEN u.due_at ELSE posts.due_at END, \
         sending_at = u.sending_at, sending_until = u.sending_until FROM {} \
         WHERE posts.id = u.id AND posts.fence = u.fence RETURNING posts.id",
        values.from("u", 1)
    );
    let sql = on_sqlite_unqualified(conn, sql);
    let held: Vec<i64> = conn
        .query_all_raw(statement(conn, sql, values.values()))
        .await?
        .iter()
        .map(|row| row.try_get("", "id"))
        .collect::<Result<_, DbErr>>()?;
    let kept = |one: &&Armed| held.contains(&one.hold.id);
    write_attempts(conn, armed.iter().filter(kept).map(|one| (one.hold.id, &one.attempt))).await?;
    tx.commit().await?;
    Ok(armed.iter().map(|one| held.contains(&one.hold.id)).collect())
}

/// SQLite takes only bare column names behind RETURNING.
fn on_sqlite_unqualified<C: ConnectionTrait>(conn: &C, sql: String) -> String {
    if conn.get_database_backend() == sea_orm::DbBackend::Postgres {
        return sql;
    }
    sql.replace("RETURNING posts.", "RETURNING ")
}

async fn write_attempts<'a, C: ConnectionTrait>(
    conn: &C,
    attempts: impl Iterator<Item = (i64, &'a Attempt)>,
) -> Result<(), DbErr> {
    const COLUMNS: Columns = &[
        ("post_id", Type::Big),
        ("number", Type::Int),
        ("worker", Type::Text),
        ("started_at", Type::Big),
        ("ended_at", Type::Big),
        ("outcome", Type::Text),
        ("error", Type::Json),
        ("steps", Type::Json),
    ];
    let mut values = Rows::new(conn, COLUMNS);
    for (id, attempt) in attempts {
        values.push([
            id.into(),
            attempt.number.into(),
            (&attempt.worker).into(),
            attempt.started_at.into(),
            attempt.ended_at.into(),
            attempt.outcome.into(),
            attempt.error.as_ref().into(),
            (&attempt.steps).into(),
        ]);
    }
    if values.is_empty() {
        return Ok(());
    }
    let sql = format!(
        "{} ON CONFLICT (post_id, number) DO UPDATE SET ended_at = excluded.ended_at, \
         outcome = excluded.outcome, error = excluded.error, steps = excluded.steps",
        values.insert_into("post_attempts")
    );
    conn.execute_raw(statement(conn, sql, values.values())).await?;
    Ok(())
}

/// What a post is after a step.
#[derive(Debug, Clone)]
pub struct Record {
    /// The row.
    pub hold: Hold,
    /// True: the worker goes on with the row, whose lease ends at `due_at`. False: it gives the row up.
    pub keep: bool,
    /// Where it stands now.
    pub status: PostStatus,
    /// When there is something to do again.
    pub due_at: Option<Millis>,
    /// What the connector needs to go on.
    pub state: Option<Json>,
    /// A part is public already.
    pub partly_public: bool,
    /// Failed tries so far.
    pub attempts: i32,
    /// A commit that may have been carried out, still to be settled: when it started and its deadline.
    pub sending: Option<(Millis, Millis)>,
    /// When its settling began.
    pub reconciling_at: Option<Millis>,
    /// What is public: id and address.
    pub published: Option<(String, Option<String>)>,
    /// Why it failed or waits.
    pub error: Option<Json>,
    /// When it is tried again after a failure.
    pub next_attempt_at: Option<Millis>,
    /// Nobody knows whether it went out.
    pub duplicate_risk: bool,
    /// The attempt; `None` if none was begun.
    pub attempt: Option<Attempt>,
    /// For an end, published or failed: the row as it was claimed, from which the event is told.
    pub ended: Option<Box<post::Model>>,
}

/// Writes results; says for each whether the row was still held. A result that was not is discarded: a newer holder, or
/// an edit, has the row. Final results are told as events.
///
/// # Errors
/// The database's. What was committed all the same cannot be written twice, because it raised the fence.
pub async fn record(cx: &Domain, records: Vec<Record>) -> Result<Vec<bool>> {
    let now = cx.clock.now();
    let mut tx = Tx::begin(cx).await?;
    let saved = update(tx.conn(), &records, now).await?;
    let held = records.iter().filter(|record| saved.contains_key(&record.hold.id));
    let attempts = held.clone().filter_map(|one| Some((one.hold.id, one.attempt.as_ref()?)));
    write_attempts(tx.conn(), attempts).await?;
    for record in held {
        if let Some(row) = &record.ended {
            tx.emit(outcome_event(record.applied_to(row, &saved[&record.hold.id], now)));
        }
        if let (Some(due_at), false) = (record.due_at, record.keep) {
            tx.ring(Kind::PublishPost, record.hold.id, due_at);
        }
    }
    tx.commit().await?;
    Ok(records.iter().map(|record| saved.contains_key(&record.hold.id)).collect())
}

/// What may have changed about a post without its holder losing it.
#[derive(FromQueryResult)]
struct Saved {
    id: i64,
    group_key: Option<String>,
    release_id: Option<String>,
}

impl Record {
    /// The row as it stands now, as far as it is shown.
    fn applied_to(&self, row: &post::Model, saved: &Saved, now: Millis) -> post::Model {
        let (id, url) = self.published.clone().map_or((None, None), |(id, url)| (Some(id), url));
        post::Model {
            group_key: saved.group_key.clone(),
            release_id: saved.release_id.clone(),
            status: self.status,
            attempt: self.attempt.as_ref().map_or(row.attempt, |attempt| attempt.number),
            public_at: self.published.as_ref().map(|_| now),
            platform_post_id: id,
            platform_post_url: url,
            error: self.error.clone(),
            next_attempt_at: self.next_attempt_at,
            updated_at: now,
            ..row.clone()
        }
    }
}

fn outcome_event(row: post::Model) -> crate::events::NewEvent {
    if row.status == PostStatus::Published {
        return told("post.published", &row, format!("The post is on {}.", row.platform));
    }
    let error = row.error.as_ref().and_then(|error| error.get("message")?.as_str());
    told("post.failed", &row, error.unwrap_or("The post failed.").to_owned())
}

async fn update<C: ConnectionTrait>(
    conn: &C,
    records: &[Record],
    now: Millis,
) -> Result<HashMap<i64, Saved>, DbErr> {
    let set: Vec<String> = RECORD_COLUMNS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| !matches!(*name, "id" | "fence" | "up" | "attempt"))
        .map(|name| format!("{name} = u.{name}"))
        .collect();
    let mut values = Rows::new(conn, RECORD_COLUMNS);
    for record in records {
        record.push_to(&mut values, now);
    }
    let sql = format!(
        "UPDATE posts SET fence = posts.fence + u.up, laps = 0, updated_at = $1, \
         attempt = coalesce(u.attempt, posts.attempt), {} FROM {} \
         WHERE posts.id = u.id AND posts.fence = u.fence \
         RETURNING posts.id, posts.group_key, posts.release_id",
        set.join(", "),
        values.from("u", 2),
    );
    let sql = on_sqlite_unqualified(conn, sql);
    let query = statement(conn, sql, std::iter::once(now.into()).chain(values.values()));
    let saved: Vec<Saved> =
        SelectorRaw::<SelectModel<Saved>>::from_statement(query).all(conn).await?;
    Ok(saved.into_iter().map(|saved| (saved.id, saved)).collect())
}

const RECORD_COLUMNS: Columns = &[
    ("id", Type::Big),
    ("fence", Type::Big),
    ("up", Type::Big),
    ("status", Type::Text),
    ("due_at", Type::Big),
    ("rung_at", Type::Big),
    ("state", Type::Json),
    ("partly_public", Type::Bool),
    ("attempts", Type::Int),
    ("attempt", Type::Int),
    ("steps", Type::Json),
    ("sending_at", Type::Big),
    ("sending_until", Type::Big),
    ("reconciling_at", Type::Big),
    ("public_at", Type::Big),
    ("platform_post_id", Type::Text),
    ("platform_post_url", Type::Text),
    ("error", Type::Json),
    ("next_attempt_at", Type::Big),
    ("duplicate_risk", Type::Bool),
];

impl Record {
    fn push_to(&self, rows: &mut Rows, now: Millis) {
        let running = self.attempt.as_ref().filter(|attempt| attempt.ended_at.is_none());
        let rung = self.due_at.filter(|due| *due <= now && !self.keep).map(|_| now);
        rows.push([
            self.hold.id.into(),
            self.hold.fence.into(),
            i64::from(!self.keep).into(),
            self.status.to_value().as_str().into(),
            self.due_at.into(),
            rung.into(),
            self.state.as_ref().into(),
            self.partly_public.into(),
            self.attempts.into(),
            self.attempt.as_ref().map(|attempt| attempt.number).into(),
            running.map(|attempt| &attempt.steps).into(),
            self.sending.map(|(from, _)| from).into(),
            self.sending.map(|(_, until)| until).into(),
            self.reconciling_at.into(),
            self.published.as_ref().map(|_| now).into(),
            self.published.as_ref().map(|(id, _)| id).into(),
            self.published.as_ref().and_then(|(_, url)| url.as_ref()).into(),
            self.error.as_ref().into(),
            self.next_attempt_at.into(),
            self.duplicate_risk.into(),
        ]);
    }
}

/// Reads an attempt of the ledger, to go on with it.
///
/// # Errors
/// The database's.
pub async fn attempt(cx: &Domain, post: i64, number: i32) -> Result<Option<Attempt>> {
    #[derive(FromQueryResult)]
    struct Row {
        worker: String,
        started_at: Millis,
        steps: Json,
    }
    let conn = &cx.db.read;
    let sql =
        "SELECT worker, started_at, steps FROM post_attempts WHERE post_id = $1 AND number = $2";
    let query = statement(conn, sql, [post.into(), number.into()]);
    let row = Row::find_by_statement(query).one(conn).await?;
    Ok(row.map(|row| Attempt {
        number,
        worker: row.worker,
        started_at: row.started_at,
        ended_at: None,
        outcome: None,
        error: None,
        steps: row.steps,
    }))
}
