//! What came of a step, written for a group of posts at once.

use std::{collections::HashMap, sync::Arc};

use fanfare_entities::{Millis, WorkspaceId, post, post::PostStatus};
use fanfare_jobs::Kind;
use sea_orm::{ActiveEnum, ConnectionTrait, DbErr, FromQueryResult};
use serde_json::Value as Json;

use super::{
    attempt::{Attempt, update_with},
    told,
};
use crate::{
    Domain, Tx,
    error::Result,
    guard::{self, Guard},
    rows::{Columns, Rows, Type},
    work::Hold,
};

/// What a post is after a step.
#[derive(Debug)]
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
pub async fn record(cx: &Domain, records: &[Arc<Record>]) -> Result<Vec<bool>> {
    let now = cx.clock.now();
    let mut tx = Tx::begin(cx).await?;
    let saved = update(tx.conn(), records, now).await?;
    for record in records.iter().filter(|record| saved.contains_key(&record.hold.id)) {
        if let Some(row) = &record.ended {
            tx.emit(outcome_event(record.applied_to(row, &saved[&record.hold.id], now)));
        }
        if let (Some(due_at), false) = (record.due_at, record.keep) {
            let workspace = saved[&record.hold.id].workspace_id;
            tx.ring(Kind::PublishPost, workspace, record.hold.id, due_at);
        }
    }
    tx.commit().await?;
    Ok(records.iter().map(|record| saved.contains_key(&record.hold.id)).collect())
}

/// What may have changed about a post without its holder losing it.
#[derive(FromQueryResult)]
struct Saved {
    id: i64,
    workspace_id: WorkspaceId,
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
    records: &[Arc<Record>],
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
    let fenced = guard::with(Guard::RecordFenced, " AND posts.fence = u.fence");
    let sql = format!(
        "UPDATE posts SET fence = posts.fence + u.up, laps = 0, updated_at = $1, \
         attempt = coalesce(u.attempt, posts.attempt), {} FROM {} \
         WHERE posts.id = u.id{fenced}",
        set.join(", "),
        values.from("u", 2),
    );
    let values = std::iter::once(now.into()).chain(values.values()).collect();
    let attempts = records.iter().filter_map(|one| Some((one.hold.id, one.attempt.as_ref()?)));
    let saved = update_with(conn, sql, values, attempts).await?;
    let saved = saved.iter().map(|row| Saved::from_query_result(row, ""));
    saved.map(|saved| saved.map(|saved| (saved.id, saved))).collect()
}

const RECORD_COLUMNS: Columns = &[
    ("id", Type::Big),
    ("fence", Type::Big),
    ("up", Type::Big),
    ("status", Type::Text),
    ("due_at", Type::Big),
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
        rows.push([
            self.hold.id.into(),
            self.hold.fence.into(),
            i64::from(!self.keep).into(),
            self.status.to_value().as_str().into(),
            self.due_at.into(),
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
