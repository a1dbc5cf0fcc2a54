//! A change to a group of posts, together with their ledger rows, events and deliveries.

use std::collections::{BTreeSet, HashMap, HashSet};

use fanfare_core::{
    Domain, Tx,
    db::statement,
    error::Result,
    events::{NewEvent, Outbox},
    rows::{Columns, Rows, Type},
    tx::{self, DueJob},
};
use fanfare_entities::{AccountId, Millis, PostSetId, WorkspaceId};
use fanfare_jobs::{JobKind, JobRef};
use sea_orm::{ConnectionTrait, DbErr, FromQueryResult, QueryResult, Statement, Value};

use super::{
    account_order,
    attempt::{Attempt, ledger_rows},
};
use crate::lost_calls::{
    Owner,
    register::{self, KEEP_FIRST},
};
use crate::posts::sets;

/// A change to posts. Nothing is written for a post that the statement does not change.
#[derive(Default)]
pub(super) struct Change<'a> {
    /// `UPDATE posts SET … WHERE …`.
    pub update: String,
    /// The parameters.
    pub values: Vec<Value>,
    /// Attempts of posts.
    pub attempts: Vec<(i64, &'a Attempt)>,
    /// Public objects that posts made: the post, the account, the network's id.
    pub made: Vec<(i64, AccountId, &'a str)>,
    /// Further names of posts: the post, the account, the name.
    pub names: Vec<(i64, AccountId, &'a str)>,
    /// The events of the posts.
    pub events: Vec<NewEvent>,
    /// The times at which posts are due again, for the posts to enqueue.
    pub due: HashMap<i64, Millis>,
    /// True where `update` reads `u.leaves_line`: behind a post that leaves the line of its account the next one is
    /// enqueued.
    pub wakes_next: bool,
}

#[derive(FromQueryResult)]
struct ChangedRow {
    id: i64,
    workspace_id: WorkspaceId,
}

/// A row that the one statement on PostgreSQL returns: a post that was changed, a delivery that was made, or the post
/// that is next in line.
#[derive(FromQueryResult)]
struct ResultRow {
    kind: i32,
    id: i64,
    workspace_id: WorkspaceId,
    due_at: Option<Millis>,
}

/// The table of the register.
const REGISTER: &str = "remote_results";

/// The table of further names of posts, and its columns. The first post that has a name keeps it.
const NAMES: &str = "post_names";
const NAME_COLUMNS: Columns =
    &[("account_id", Type::Big), ("remote_id", Type::Text), ("post_id", Type::Big)];
const KEEP_NAME: &str = " ON CONFLICT (account_id, remote_id) DO NOTHING";

const POST: i32 = 0;
const DELIVERY: i32 = 1;
const NEXT: i32 = 2;

/// Returns the rows of the register for what some posts made.
fn made_rows<'a, C: ConnectionTrait>(
    conn: &C,
    made: impl Iterator<Item = &'a (i64, AccountId, &'a str)>,
    now: Millis,
) -> Rows {
    let mut rows = Rows::new(conn, register::COLUMNS);
    for (post, account, id) in made {
        let (owner, post) = Owner::Post(*post).stored();
        rows.push([(*id).into(), account.0.into(), owner.into(), post.into(), now.into()]);
    }
    rows
}

/// Returns the rows of further names of posts.
fn name_rows<'a, C: ConnectionTrait>(
    conn: &C,
    names: impl Iterator<Item = &'a (i64, AccountId, &'a str)>,
) -> Rows {
    let mut rows = Rows::new(conn, NAME_COLUMNS);
    for (post, account, name) in names {
        rows.push([account.0.into(), (*name).into(), (*post).into()]);
    }
    rows
}

impl Change<'_> {
    /// Applies the change; returns the posts that were changed. On PostgreSQL it is one statement: each further one
    /// would be a round trip, and a worker that stops between two statements would keep the rows locked.
    ///
    /// # Errors
    /// The database's. If the reply was lost, the change may have been made.
    pub async fn apply(self, cx: &Domain) -> Result<HashSet<i64>> {
        if cx.db.is_postgres() {
            self.apply_in_one_statement(cx).await
        } else {
            let mut tx = Tx::begin(cx).await?;
            let changed = self.apply_in(&mut tx).await?;
            tx.commit().await?;
            Ok(changed)
        }
    }

    /// Applies a change that may settle these sets, which are locked before the posts are, so that the last of their
    /// targets sees all others.
    ///
    /// # Errors
    /// As for [`Self::apply`].
    pub async fn apply_to_sets(
        self,
        cx: &Domain,
        of_sets: &BTreeSet<PostSetId>,
    ) -> Result<HashSet<i64>> {
        let mut tx = Tx::begin(cx).await?;
        for set in of_sets {
            sets::lock(tx.conn(), *set).await?;
        }
        let changed = if cx.db.is_postgres() {
            let (query, due) = self.one_statement(cx);
            let rows = tx.conn().query_all_raw(query).await?;
            let mut changed = HashSet::new();
            for row in &rows {
                if let Some(job) = due.job_of(row, &mut changed)? {
                    tx.enqueue_due(job);
                }
            }
            changed
        } else {
            self.apply_in(&mut tx).await?
        };
        for set in of_sets {
            sets::changed_by_service(&mut tx, *set).await?;
        }
        tx.commit().await?;
        Ok(changed)
    }

    async fn apply_in_one_statement(self, cx: &Domain) -> Result<HashSet<i64>> {
        let (query, due) = self.one_statement(cx);
        let mut changed = HashSet::new();
        tx::run_statement(cx, query, |row| due.job_of(row, &mut changed)).await?;
        Ok(changed)
    }

    /// Returns the change as one statement on PostgreSQL, and what its rows make due.
    fn one_statement(mut self, cx: &Domain) -> (Statement, DueRows) {
        let conn = &cx.db.write;
        let also = if self.wakes_next { account_order::CHANGED_COLUMNS } else { "" };
        let mut parts = format!(
            "WITH changed AS ({} RETURNING posts.id, posts.workspace_id{also})",
            self.update
        );
        let mut found =
            format!("SELECT {POST} AS kind, id, workspace_id, NULL::bigint AS due_at FROM changed");
        let attempts = ledger_rows(conn, std::mem::take(&mut self.attempts));
        if !attempts.is_empty() {
            let insert =
                attempts.insert("post_id IN (SELECT id FROM changed)", self.values.len() + 1);
            parts += &format!(", ledger AS ({insert})");
            self.values.extend(attempts.values());
        }
        let made = made_rows(conn, self.made.iter(), cx.clock.now());
        if !made.is_empty() {
            let insert = made.insert_into(REGISTER, self.values.len() + 1);
            let only = "owner_id IN (SELECT id FROM changed)";
            parts += &format!(", made AS ({insert} AND {only}{KEEP_FIRST})");
            self.values.extend(made.values());
        }
        let names = name_rows(conn, self.names.iter());
        if !names.is_empty() {
            let insert = names.insert_into(NAMES, self.values.len() + 1);
            let only = "post_id IN (SELECT id FROM changed)";
            parts += &format!(", names AS ({insert} AND {only}{KEEP_NAME})");
            self.values.extend(names.values());
        }
        let outbox = Outbox::of(conn, &self.events, cx.clock.now());
        if !outbox.is_empty() {
            let told = "given.post_id IN (SELECT id FROM changed)";
            parts += &format!(", {}", outbox.parts(self.values.len() + 1, told));
            found +=
                &format!(" UNION ALL SELECT {DELIVERY}, id, workspace_id, due_at FROM delivered");
            self.values.extend(outbox.values());
        }
        let now = cx.clock.now();
        if self.wakes_next {
            self.values.push(now.into());
            parts += &format!(", {}", account_order::waking(self.values.len()));
            found += &format!(" UNION ALL {}", account_order::woken(NEXT));
        }
        let query = statement(conn, format!("{parts} {found}"), self.values);
        (query, DueRows { due: self.due, now })
    }

    async fn apply_in(self, tx: &mut Tx) -> Result<HashSet<i64>> {
        // SQLite takes only bare column names there, which are ambiguous on PostgreSQL.
        let update = format!("{} RETURNING id, workspace_id", self.update);
        let rows = tx.conn().query_all_raw(statement(tx.conn(), update, self.values)).await?;
        let rows = rows.iter().map(|row| ChangedRow::from_query_result(row, ""));
        let rows = rows.collect::<Result<Vec<_>, DbErr>>()?;
        let changed: HashSet<i64> = rows.iter().map(|row| row.id).collect();
        let attempts = self.attempts.iter().copied().filter(|(id, _)| changed.contains(id));
        let attempts = ledger_rows(tx.conn(), attempts);
        if !attempts.is_empty() {
            let insert = attempts.insert("true", 1);
            tx.conn().execute_raw(statement(tx.conn(), insert, attempts.values())).await?;
        }
        let made = self.made.iter().filter(|(post, ..)| changed.contains(post));
        let made = made_rows(tx.conn(), made, tx.now());
        if !made.is_empty() {
            let insert = format!("{}{KEEP_FIRST}", made.insert_into(REGISTER, 1));
            tx.conn().execute_raw(statement(tx.conn(), insert, made.values())).await?;
        }
        let names =
            name_rows(tx.conn(), self.names.iter().filter(|(post, ..)| changed.contains(post)));
        if !names.is_empty() {
            let insert = format!("{}{KEEP_NAME}", names.insert_into(NAMES, 1));
            tx.conn().execute_raw(statement(tx.conn(), insert, names.values())).await?;
        }
        for event in self.events {
            if event.post_id.is_some_and(|id| changed.contains(&id.0)) {
                tx.emit(event);
            }
        }
        for row in &rows {
            if let Some(due_at) = self.due.get(&row.id) {
                tx.enqueue(JobKind::PublishPost, row.workspace_id, row.id, *due_at);
            }
        }
        if self.wakes_next {
            let now = tx.now();
            let ids = rows.iter().map(|row| row.id);
            let next = account_order::next_of(tx.conn(), ids, now).await?;
            for next in next.into_iter().filter(|next| next.due_at <= now) {
                tx.enqueue(JobKind::PublishPost, next.workspace_id, next.id, next.due_at);
            }
        }
        Ok(changed)
    }
}

/// The jobs that follow from the rows that the one statement returns.
struct DueRows {
    due: HashMap<i64, Millis>,
    now: Millis,
}

impl DueRows {
    /// Returns the job of a row; a post that was changed is added to `changed`.
    fn job_of(
        &self,
        row: &QueryResult,
        changed: &mut HashSet<i64>,
    ) -> Result<Option<DueJob>, DbErr> {
        let row = ResultRow::from_query_result(row, "")?;
        let (kind, due_at) = match row.kind {
            DELIVERY => (JobKind::DeliverWebhook, row.due_at),
            NEXT => (JobKind::PublishPost, row.due_at.filter(|due_at| *due_at <= self.now)),
            _ => {
                changed.insert(row.id);
                (JobKind::PublishPost, self.due.get(&row.id).copied())
            }
        };
        let job = JobRef::of(row.workspace_id.0, row.id);
        Ok(due_at.map(|due_at| DueJob { kind, job, due_at }))
    }
}
