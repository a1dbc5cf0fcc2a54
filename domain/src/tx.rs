//! The transaction through which every change is made.
//!
//! It is the only thing that can ring or emit: nobody can ring for a change that did not commit, or commit and forget
//! to ring. A statement that is a transaction by itself goes through [`at_once`].

use fanfare_entities::{Millis, WorkspaceId};
use fanfare_jobs::{Kind, Ring};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbErr, QueryResult, Statement};

use crate::{
    Domain,
    error::Result,
    events::{self, NewEvent},
    failpoint::Moment,
    guard::{self, Guard},
};

/// A write transaction with what follows from it.
pub struct Tx {
    cx: Domain,
    conn: DatabaseTransaction,
    rings: Vec<Rung>,
    events: Vec<NewEvent>,
}

impl Tx {
    /// Begins.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn begin(cx: &Domain) -> Result<Self> {
        let conn = cx.db.begin().await?;
        Ok(Self { cx: cx.clone(), conn, rings: Vec::new(), events: Vec::new() })
    }

    /// The rules' context.
    #[must_use]
    pub const fn domain(&self) -> &Domain {
        &self.cx
    }

    /// The connection, for statements.
    #[must_use]
    pub const fn conn(&self) -> &DatabaseTransaction {
        &self.conn
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Millis {
        self.cx.clock.now()
    }

    /// Notes that a row of a workspace is due, to be rung for after the commit.
    pub fn ring(&mut self, kind: Kind, workspace: WorkspaceId, id: i64, due_at: Millis) {
        self.rings.push(Rung { kind, ring: Ring::of(workspace.0, id), due_at });
    }

    /// Notes that a row of no workspace is due, to be rung for after the commit.
    pub(crate) fn ring_for_nobody(&mut self, kind: Kind, id: i64, due_at: Millis) {
        self.rings.push(Rung { kind, ring: Ring::from(id), due_at });
    }

    /// Notes an event, to be written with its webhook deliveries just before the commit: the counters of the
    /// workspaces are locked last.
    pub fn emit(&mut self, event: NewEvent) {
        self.events.push(event);
    }

    /// Writes the events noted so far with their webhook deliveries, which locks the counters of their workspaces:
    /// nothing else is to be written after it. [`Tx::commit`] does it too.
    ///
    /// # Errors
    /// The database's.
    pub async fn tell(&mut self) -> Result<()> {
        if self.events.is_empty() {
            return Ok(());
        }
        let (now, events) = (self.cx.clock.now(), std::mem::take(&mut self.events));
        for made in events::append(&self.conn, &events, now).await? {
            if let Some(due_at) = made.due_at {
                self.ring(Kind::DeliverWebhook, made.workspace_id, made.id.0, due_at);
            }
        }
        Ok(())
    }

    /// Commits, then rings.
    ///
    /// # Errors
    /// The database's. When the answer of the commit itself was lost the change may have been made.
    pub async fn commit(mut self) -> Result<()> {
        self.tell().await?;
        if guard::is_down(Guard::RingAfterCommit) {
            ring(&self.cx, &self.rings);
        }
        self.cx.failpoint.cut(Moment::BeforeCommit)?;
        self.conn.commit().await?;
        self.cx.failpoint.cut(Moment::AfterCommit)?;
        if guard::stands(Guard::RingAfterCommit) {
            ring(&self.cx, &self.rings);
        }
        Ok(())
    }
}

/// Runs a statement that is a whole transaction, then rings for what `rung` finds in the rows that it returns.
///
/// # Errors
/// The database's. When the answer was lost the change may have been made.
pub(crate) async fn at_once(
    cx: &Domain,
    query: Statement,
    rung: impl FnMut(&QueryResult) -> Result<Option<Rung>, DbErr>,
) -> Result<()> {
    cx.failpoint.cut(Moment::BeforeCommit)?;
    let rows = cx.db.write.query_all_raw(query).await?;
    cx.failpoint.cut(Moment::AfterCommit)?;
    let rings: Vec<_> = rows.iter().map(rung).collect::<Result<_, DbErr>>()?;
    ring(cx, rings.iter().flatten());
    Ok(())
}

/// A row that is due, to be rung for.
pub(crate) struct Rung {
    pub kind: Kind,
    pub ring: Ring,
    pub due_at: Millis,
}

fn ring<'a>(cx: &Domain, rings: impl IntoIterator<Item = &'a Rung>) {
    for rung in rings {
        cx.ringer.ring(rung.kind, rung.ring, rung.due_at);
    }
}
