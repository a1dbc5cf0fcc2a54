//! The transaction through which every change is made.
//!
//! Only this type can enqueue jobs and emit events, so no code can enqueue a change that did not commit, or commit and
//! not enqueue it. A single statement that is a whole transaction goes through [`run_statement`].

use fanfare_entities::{Millis, WorkspaceId};
use fanfare_jobs::{JobKind, JobRef};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbErr, QueryResult, Statement};

use crate::{
    Domain,
    error::Result,
    events::{self, NewEvent},
    failpoint::Moment,
    mutation::{self, Mutation},
};

/// A write transaction with its events and the jobs to enqueue after the commit.
pub struct Tx {
    cx: Domain,
    conn: DatabaseTransaction,
    jobs: Vec<DueJob>,
    events: Vec<NewEvent>,
}

impl Tx {
    /// Begins a transaction.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn begin(cx: &Domain) -> Result<Self> {
        let conn = cx.db.begin().await?;
        Ok(Self { cx: cx.clone(), conn, jobs: Vec::new(), events: Vec::new() })
    }

    /// Returns the domain's context.
    #[must_use]
    pub const fn domain(&self) -> &Domain {
        &self.cx
    }

    /// Returns the connection, for statements.
    #[must_use]
    pub const fn conn(&self) -> &DatabaseTransaction {
        &self.conn
    }

    /// Returns the current time.
    #[must_use]
    pub fn now(&self) -> Millis {
        self.cx.clock.now()
    }

    /// Enqueues a row of a workspace after the commit.
    pub fn enqueue(&mut self, kind: JobKind, workspace: WorkspaceId, id: i64, due_at: Millis) {
        self.jobs.push(DueJob { kind, job: JobRef::of(workspace.0, id), due_at });
    }

    /// Enqueues a row of no workspace after the commit.
    pub fn enqueue_global(&mut self, kind: JobKind, id: i64, due_at: Millis) {
        self.jobs.push(DueJob { kind, job: JobRef::from(id), due_at });
    }

    /// Enqueues a due row after the commit.
    pub fn enqueue_due(&mut self, job: DueJob) {
        self.jobs.push(job);
    }

    /// Adds an event, which is written with its webhook deliveries just before the commit, so that the event counters
    /// of the workspaces are locked last.
    pub fn emit(&mut self, event: NewEvent) {
        self.events.push(event);
    }

    /// Writes the events added so far with their webhook deliveries. This locks the event counters of their workspaces,
    /// so nothing else should be written after it. [`Tx::commit`] does it too.
    ///
    /// # Errors
    /// The database's.
    pub async fn write_events(&mut self) -> Result<()> {
        if self.events.is_empty() {
            return Ok(());
        }
        let (now, events) = (self.cx.clock.now(), std::mem::take(&mut self.events));
        for made in events::append(&self.conn, &events, now).await? {
            if let Some(due_at) = made.due_at {
                self.enqueue(JobKind::DeliverWebhook, made.workspace_id, made.id.0, due_at);
            }
        }
        Ok(())
    }

    /// Commits, then enqueues.
    ///
    /// # Errors
    /// The database's. If the reply to the commit itself was lost, the change may have been made.
    pub async fn commit(mut self) -> Result<()> {
        self.write_events().await?;
        if mutation::is_on(Mutation::EnqueueAfterCommit) {
            enqueue(&self.cx, &self.jobs);
        }
        self.cx.failpoint.lose_database(Moment::BeforeCommit)?;
        self.conn.commit().await?;
        self.cx.failpoint.lose_database(Moment::AfterCommit)?;
        if mutation::is_off(Mutation::EnqueueAfterCommit) {
            enqueue(&self.cx, &self.jobs);
        }
        Ok(())
    }
}

/// Runs a statement that is a whole transaction, then enqueues the jobs that `due_job` returns for the rows.
///
/// # Errors
/// The database's. If the reply was lost, the change may have been made.
pub async fn run_statement(
    cx: &Domain,
    query: Statement,
    due_job: impl FnMut(&QueryResult) -> Result<Option<DueJob>, DbErr>,
) -> Result<()> {
    cx.failpoint.lose_database(Moment::BeforeCommit)?;
    let rows = cx.db.write.query_all_raw(query).await?;
    cx.failpoint.lose_database(Moment::AfterCommit)?;
    let jobs: Vec<_> = rows.iter().map(due_job).collect::<Result<_, DbErr>>()?;
    enqueue(cx, jobs.iter().flatten());
    Ok(())
}

/// A due row to enqueue.
pub struct DueJob {
    /// Its kind.
    pub kind: JobKind,
    /// The row.
    pub job: JobRef,
    /// The time from which it can be claimed.
    pub due_at: Millis,
}

fn enqueue<'a>(cx: &Domain, jobs: impl IntoIterator<Item = &'a DueJob>) {
    for due in jobs {
        cx.after_commit.enqueue(due.kind, due.job, due.due_at);
    }
}
