//! Completes steps: writes the results of a batch of posts.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use fanfare_core::{
    Domain,
    db::statement,
    durable::Lease,
    error::Result,
    mutation::{self, Mutation},
    rows::{Columns, Rows, Type},
};
use fanfare_entities::{AccountId, Millis, PostSetId, post, post::PostStatus};
use sea_orm::{ActiveEnum, ConnectionTrait, DbErr, FromQueryResult};
use serde_json::Value as Json;

use super::{
    EVENT_UNCHANGED,
    attempt::{Attempt, RUNNING},
    change::Change,
    worker_event,
};

/// The result of a step, with the state of the post after it.
#[derive(Debug)]
pub struct CompleteStep {
    /// The row.
    pub lease: Lease,
    /// True if the worker goes on with the row, whose lease then ends at `due_at`. False if it gives the row back.
    pub keep_lease: bool,
    /// The new status.
    pub status: PostStatus,
    /// Later posts of the account may go out before it, because it waits for a reason of its own.
    pub out_of_line: bool,
    /// It is set aside behind an earlier post of its account, which makes it due when it leaves the line.
    pub behind: bool,
    /// The time at which there is something to do again.
    pub due_at: Option<Millis>,
    /// The connector's state.
    pub state: Option<Json>,
    /// A part is public already.
    pub partly_public: bool,
    /// The number of failed attempts so far.
    pub attempts: i32,
    /// A commit call that may have been carried out and is not settled: when it started and its deadline.
    pub sending: Option<(Millis, Millis)>,
    /// The time at which reconciling began.
    pub reconciling_at: Option<Millis>,
    /// The time at which a complete list first did not show the result of the call.
    pub absent_at: Option<Millis>,
    /// The ids of public objects that the step made, and the account that they were made with.
    pub made: (AccountId, Vec<String>),
    /// Further names that the network has for the published post.
    pub names: Vec<String>,
    /// The id and the address of the published post.
    pub published: Option<(String, Option<String>)>,
    /// The further public parts of the published post, as the row stores them.
    pub parts: Option<Json>,
    /// The things that the published post lacks, as a list of warnings.
    pub warnings: Option<Json>,
    /// The reason it failed or waits.
    pub error: Option<Json>,
    /// The time at which it is tried again after a failure.
    pub next_attempt_at: Option<Millis>,
    /// It is unknown whether the post went out.
    pub duplicate_risk: bool,
    /// The attempt; `None` if none was begun.
    pub attempt: Option<Attempt>,
    /// For a published or failed post: the row as it was claimed, from which the event is made.
    pub ended: Option<Box<post::Model>>,
}

/// Writes results; returns for each whether the row was still held. The result of a row that was lost to a newer holder
/// or an edit is discarded. Final results emit events.
///
/// # Errors
/// The database's. Results that were committed nevertheless cannot be written twice, because they raised the fencing
/// token.
pub async fn complete_step(cx: &Domain, steps: &[Arc<CompleteStep>]) -> Result<Vec<bool>> {
    let mut open: Vec<&CompleteStep> = steps.iter().map(AsRef::as_ref).collect();
    let mut faces =
        open.iter().filter_map(|one| Some(EventFields::of(one.ended.as_ref()?))).collect();
    let mut saved = HashSet::new();
    while !open.is_empty() {
        // A post of a set may be the last one of it to end, which is written in a transaction of its own kind.
        let (of_sets, single): (Vec<_>, Vec<_>) =
            open.iter().copied().partition(|one| one.ended_set().is_some());
        if !single.is_empty() {
            saved.extend(completion_change(cx, &single, &faces).apply(cx).await?);
        }
        if !of_sets.is_empty() {
            let sets = of_sets.iter().filter_map(|one| one.ended_set()).collect();
            saved.extend(completion_change(cx, &of_sets, &faces).apply_to_sets(cx, &sets).await?);
        }
        // The content of an event may have changed meanwhile; then the event is made again.
        open.retain(|one| one.ended.is_some() && !saved.contains(&one.lease.id));
        faces = EventFields::read(cx, &open).await?;
        open.retain(|one| faces.contains_key(&one.lease.id));
    }
    Ok(steps.iter().map(|step| saved.contains(&step.lease.id)).collect())
}

/// The fields of a post's event that may change without its holder losing the lease.
#[derive(FromQueryResult)]
struct EventFields {
    id: i64,
    group_key: Option<String>,
    release_id: Option<String>,
}

type EventFieldsById = HashMap<i64, EventFields>;

impl EventFields {
    fn of(row: &post::Model) -> (i64, Self) {
        let (group_key, release_id) = (row.group_key.clone(), row.release_id.clone());
        (row.id.0, Self { id: row.id.0, group_key, release_id })
    }

    /// Reads the fields of the posts that are still held.
    async fn read(cx: &Domain, open: &[&CompleteStep]) -> Result<EventFieldsById> {
        let db = &cx.db.read;
        let mut held = Rows::new(db, &[("id", Type::Big), ("fencing_token", Type::Big)]);
        for one in open {
            held.push([one.lease.id.into(), one.lease.fencing_token.into()]);
        }
        if held.is_empty() {
            return Ok(EventFieldsById::new());
        }
        let sql = format!(
            "SELECT posts.id, posts.group_key, posts.release_id FROM {} \
             JOIN posts ON posts.id = held.id AND posts.fencing_token = held.fencing_token",
            held.from("held", 1)
        );
        let rows = db.query_all_raw(statement(db, sql, held.values())).await?;
        let read = |row| Self::from_query_result(row, "").map(|face| (face.id, face));
        Ok(rows.iter().map(read).collect::<Result<_, DbErr>>()?)
    }
}

impl CompleteStep {
    /// Returns the set of a post that is published or failed now.
    fn ended_set(&self) -> Option<PostSetId> {
        self.ended.as_ref()?.post_set_id
    }

    /// Returns the row as it is after the step, as far as events show it.
    fn applied_to(&self, row: &post::Model, face: &EventFields, now: Millis) -> post::Model {
        let (id, url) = self.published.clone().map_or((None, None), |(id, url)| (Some(id), url));
        post::Model {
            group_key: face.group_key.clone(),
            release_id: face.release_id.clone(),
            status: self.status,
            attempt: self.attempt.as_ref().map_or(row.attempt, |attempt| attempt.number),
            public_at: self.published.as_ref().map(|_| now),
            platform_post_id: id,
            platform_post_url: url,
            parts: self.parts.clone(),
            warnings: self.warnings.clone(),
            error: self.error.clone(),
            next_attempt_at: self.next_attempt_at,
            updated_at: now,
            ..row.clone()
        }
    }
}

fn outcome_event(cx: &Domain, row: post::Model) -> fanfare_core::events::NewEvent {
    if row.status == PostStatus::Published {
        return worker_event(
            cx,
            "post.published",
            &row,
            format!("The post is on {}.", row.platform),
        );
    }
    let error = row.error.as_ref().and_then(|error| error.get("message")?.as_str());
    worker_event(cx, "post.failed", &row, error.unwrap_or("The post failed.").to_owned())
}

fn completion_change<'a>(
    cx: &Domain,
    records: &[&'a CompleteStep],
    faces: &EventFieldsById,
) -> Change<'a> {
    let now = cx.clock.now();
    let set: Vec<String> = RECORD_COLUMNS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| {
            !matches!(*name, "id" | "fencing_token" | "up" | "attempt" | "told" | "leaves_line")
        })
        .filter(|name| !matches!(*name, "group_key" | "release_id"))
        .map(|name| format!("{name} = u.{name}"))
        .collect();
    let mut values = Rows::new(&cx.db.write, RECORD_COLUMNS);
    let mut change = Change { wakes_next: true, ..Change::default() };
    for record in records {
        let face = faces.get(&record.lease.id);
        record.push_to(&mut values, face, now);
        if let Some((row, face)) = record.ended.as_ref().zip(face) {
            change.events.push(outcome_event(cx, record.applied_to(row, face, now)));
        }
        if let Some(due_at) = record.due_at.filter(|_| !record.keep_lease) {
            change.due.insert(record.lease.id, due_at);
        }
        if let Some(attempt) = &record.attempt {
            change.attempts.push((record.lease.id, attempt));
        }
        let (account, made) = &record.made;
        change.made.extend(made.iter().map(|id| (record.lease.id, *account, id.as_str())));
        let names = record.names.iter().map(|name| (record.lease.id, *account, name.as_str()));
        change.names.extend(names);
    }
    let fenced = mutation::unless(
        Mutation::CompleteStepFenced,
        " AND posts.fencing_token = u.fencing_token",
    );
    change.update = format!(
        "UPDATE posts SET fencing_token = posts.fencing_token + u.up, lease_expirations = 1 - u.up, updated_at = $1, \
         attempt = coalesce(u.attempt, posts.attempt), {} FROM {} \
         WHERE posts.id = u.id{fenced} AND (NOT u.told OR ({EVENT_UNCHANGED}))",
        set.join(", "),
        values.from("u", 2),
    );
    change.values = std::iter::once(now.into()).chain(values.values()).collect();
    change
}

const RECORD_COLUMNS: Columns = &[
    ("id", Type::Big),
    ("fencing_token", Type::Big),
    ("up", Type::Big),
    ("status", Type::Text),
    ("due_at", Type::Big),
    ("out_of_line", Type::Bool),
    ("behind", Type::Bool),
    ("leaves_line", Type::Bool),
    ("state", Type::Json),
    ("partly_public", Type::Bool),
    ("attempts", Type::Int),
    ("attempt", Type::Int),
    ("steps", Type::Json),
    ("sending_at", Type::Big),
    ("sending_until", Type::Big),
    ("reconciling_at", Type::Big),
    ("absent_at", Type::Big),
    ("public_at", Type::Big),
    ("platform_post_id", Type::Text),
    ("platform_post_url", Type::Text),
    ("parts", Type::Json),
    ("warnings", Type::Json),
    ("error", Type::Json),
    ("next_attempt_at", Type::Big),
    ("duplicate_risk", Type::Bool),
    ("told", Type::Bool),
    ("group_key", Type::Text),
    ("release_id", Type::Text),
];

impl CompleteStep {
    /// Returns true if later posts of the account no longer have to wait for it.
    const fn leaves_line(&self) -> bool {
        !self.keep_lease && (self.due_at.is_none() || self.out_of_line)
    }

    fn push_to(&self, rows: &mut Rows, face: Option<&EventFields>, now: Millis) {
        let running = self.attempt.as_ref().filter(|attempt| attempt.ended_at.is_none());
        rows.push([
            self.lease.id.into(),
            self.lease.fencing_token.into(),
            i64::from(!self.keep_lease).into(),
            self.status.to_value().as_str().into(),
            self.due_at.into(),
            self.out_of_line.into(),
            self.behind.into(),
            self.leaves_line().into(),
            self.state.as_ref().into(),
            self.partly_public.into(),
            self.attempts.into(),
            self.attempt.as_ref().map(|attempt| attempt.number).into(),
            running.map(|_| &RUNNING).into(),
            self.sending.map(|(from, _)| from).into(),
            self.sending.map(|(_, until)| until).into(),
            self.reconciling_at.into(),
            self.absent_at.into(),
            self.published.as_ref().map(|_| now).into(),
            self.published.as_ref().map(|(id, _)| id).into(),
            self.published.as_ref().and_then(|(_, url)| url.as_ref()).into(),
            self.parts.as_ref().into(),
            self.warnings.as_ref().into(),
            self.error.as_ref().into(),
            self.next_attempt_at.into(),
            self.duplicate_risk.into(),
            self.ended.is_some().into(),
            face.and_then(|face| face.group_key.as_ref()).into(),
            face.and_then(|face| face.release_id.as_ref()).into(),
        ]);
    }
}
