//! The sweeper's statements: which rows to ring for, and who may.

use std::collections::HashMap;

use fanfare_entities::Millis;
use fanfare_jobs::Kind;
use sea_orm::{ConnectionTrait, DbErr, Statement};
use uuid::Uuid;

use super::{is_shared, table};
use crate::{Domain, db::statement, error::Result, rows::Rows};

/// How long one sweeper leads, in ms of the database's time.
const LEAD: Millis = 2_000;

/// A row that was rung and not taken is rung again after this many ms.
const RING_AGAIN: Millis = 10_000;

/// The same while the queue is empty, or is known to have forgotten something.
const RING_AGAIN_AFTER_LOSS: Millis = 1_000;

/// At most this many workspaces are visited in one turn.
const WORKSPACES_A_TURN: usize = 1_000;

/// Leadership of the sweep, which one process at a time has.
#[derive(Debug)]
pub struct Lead {
    holder: String,
}

impl Lead {
    /// A contender with a name of its own.
    #[must_use]
    pub fn new(holder: impl Into<String>) -> Self {
        Self { holder: holder.into() }
    }

    /// Takes or keeps the lead for two seconds; false while another has it.
    ///
    /// # Errors
    /// The database's.
    pub async fn take(&self, cx: &Domain) -> Result<bool> {
        let conn = &cx.db.write;
        let now = if cx.db.is_postgres() {
            "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
        } else {
            "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
        };
        let sql = format!(
            "INSERT INTO leases (name, holder, until_at) VALUES ('sweep', $1, {now} + $2) \
             ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until_at = excluded.until_at \
             WHERE leases.holder = excluded.holder OR leases.until_at < {now}"
        );
        let values = [self.holder.as_str().into(), LEAD.into()];
        Ok(conn.execute_raw(statement(conn, sql, values)).await?.rows_affected() == 1)
    }

    /// Gives the lead away, so that another need not wait for it to lapse.
    ///
    /// # Errors
    /// The database's.
    pub async fn resign(&self, cx: &Domain) -> Result<()> {
        let conn = &cx.db.write;
        let sql = "DELETE FROM leases WHERE name = 'sweep' AND holder = $1";
        conn.execute_raw(statement(conn, sql, [self.holder.as_str().into()])).await?;
        Ok(())
    }
}

/// Who leads now; `None` when no worker has run for two seconds.
///
/// # Errors
/// The database's.
pub async fn leader(cx: &Domain) -> Result<Option<String>> {
    let (conn, now) = (&cx.db.write, cx.db.now().await?);
    let sql = "SELECT holder FROM leases WHERE name = 'sweep' AND until_at >= $1";
    let row = conn.query_one_raw(statement(conn, sql, [now.into()])).await?;
    Ok(row.map(|row| row.try_get("", "holder")).transpose()?)
}

/// What the sweeper remembers between turns: how far each kind's round over the workspaces has come.
#[derive(Debug, Default)]
pub struct Turn {
    positions: HashMap<Kind, Uuid>,
}

impl Turn {
    /// Marks up to `runway` due rows of this kind as rung and returns their ids in the order to ring them: those never
    /// rung before those rung again. While everything due fits into the runway the oldest goes first; beyond that the
    /// workspaces take turns.
    ///
    /// # Errors
    /// The database's.
    pub async fn ring(
        &mut self,
        cx: &Domain,
        kind: Kind,
        runway: usize,
        loss: bool,
    ) -> Result<Vec<i64>> {
        let again = if loss { RING_AGAIN_AFTER_LOSS } else { RING_AGAIN };
        let now = cx.clock.now();
        let due = due(cx, kind, now, now - again, runway + 1).await?;
        if due.len() <= runway || !is_shared(kind) {
            let first = &due[..due.len().min(runway)];
            return mark(cx, kind, first, now).await;
        }
        let shares = self.share_out(cx, kind, now, now - again, runway).await?;
        mark(cx, kind, &shares, now).await
    }

    /// The oldest due rows of each workspace in turn, beginning behind the workspace the last turn ended with.
    async fn share_out(
        &mut self,
        cx: &Domain,
        kind: Kind,
        now: Millis,
        rung_before: Millis,
        runway: usize,
    ) -> Result<Vec<i64>> {
        let from = self.positions.get(&kind).copied().unwrap_or(Uuid::nil());
        let mut workspaces = workspaces(cx, kind, now, from).await?;
        if workspaces.len() < WORKSPACES_A_TURN && !from.is_nil() {
            let wrapped = self::workspaces(cx, kind, now, Uuid::nil()).await?;
            workspaces.extend(wrapped.into_iter().filter(|id| *id <= from));
        }
        workspaces.truncate(WORKSPACES_A_TURN.min(runway));
        let share = runway / workspaces.len().max(1);
        let mut queues = Vec::with_capacity(workspaces.len());
        for workspace in &workspaces {
            queues.push(of_workspace(cx, kind, *workspace, now, rung_before, share.max(1)).await?);
        }
        if let Some(last) = workspaces.last() {
            self.positions.insert(kind, *last);
        }
        Ok(interleave(queues))
    }
}

/// First of each, then second of each, and so on.
fn interleave(queues: Vec<Vec<i64>>) -> Vec<i64> {
    let longest = queues.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest)
        .flat_map(|place| queues.iter().filter_map(move |q| q.get(place)))
        .copied()
        .collect()
}

const NOT_RUNG: &str = "(rung_at IS NULL OR rung_at <= $2)";

/// Up to `limit` due rows: those never rung before those rung again, each oldest first. Two walks along the index of due
/// times, which cost what they return; one statement for both would sort everything that is due.
async fn due(
    cx: &Domain,
    kind: Kind,
    now: Millis,
    rung_before: Millis,
    limit: usize,
) -> Result<Vec<i64>> {
    let table = table(kind);
    let first = |which: &str, limit: usize| {
        format!(
            "SELECT id FROM {table} WHERE due_at <= $1 AND {which} ORDER BY due_at, id LIMIT {limit}"
        )
    };
    let unrung = statement(&cx.db.read, first("rung_at IS NULL", limit), [now.into()]);
    let mut found = ids(cx, unrung).await?;
    if found.len() < limit {
        let again = first("rung_at <= $2", limit - found.len());
        let again = statement(&cx.db.read, again, [now.into(), rung_before.into()]);
        found.extend(ids(cx, again).await?);
    }
    Ok(found)
}

async fn of_workspace(
    cx: &Domain,
    kind: Kind,
    workspace: Uuid,
    now: Millis,
    rung_before: Millis,
    limit: usize,
) -> Result<Vec<i64>> {
    let sql = format!(
        "SELECT id FROM {} WHERE workspace_id = $3 AND due_at <= $1 AND {NOT_RUNG} \
         ORDER BY due_at, id LIMIT {limit}",
        table(kind)
    );
    ids(cx, statement(&cx.db.read, sql, [now.into(), rung_before.into(), workspace.into()])).await
}

/// Workspaces with due work behind `from`, by jumping from one to the next in the index.
async fn workspaces(cx: &Domain, kind: Kind, now: Millis, from: Uuid) -> Result<Vec<Uuid>> {
    let table = table(kind);
    let next = |behind: &str| {
        format!(
            "SELECT workspace_id FROM {table} WHERE workspace_id > {behind} AND due_at <= $1 \
             ORDER BY workspace_id LIMIT 1"
        )
    };
    let sql = format!(
        "WITH RECURSIVE found(workspace_id, n) AS (SELECT ({}), 1 UNION ALL \
         SELECT ({}), n + 1 FROM found WHERE found.workspace_id IS NOT NULL AND n < {WORKSPACES_A_TURN}) \
         SELECT workspace_id FROM found WHERE workspace_id IS NOT NULL",
        next("$2"),
        next("found.workspace_id"),
    );
    let rows = cx.db.read.query_all_raw(statement(&cx.db.read, sql, [now.into(), from.into()]));
    Ok(rows
        .await?
        .iter()
        .map(|row| row.try_get("", "workspace_id"))
        .collect::<Result<_, DbErr>>()?)
}

/// Marks rows as rung and returns them in the given order; rows that are no longer due are left out.
async fn mark(cx: &Domain, kind: Kind, ids: &[i64], now: Millis) -> Result<Vec<i64>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let conn = &cx.db.write;
    let list = Rows::of_ids(conn, ids);
    let from = list.from("due", 2);
    let lock = if cx.db.is_postgres() { "ORDER BY t.id FOR UPDATE OF t SKIP LOCKED" } else { "" };
    let table = table(kind);
    let sql = format!(
        "UPDATE {table} SET rung_at = $1 WHERE id IN (SELECT t.id FROM {table} t \
         JOIN {from} ON due.id = t.id WHERE t.due_at <= $1 {lock}) RETURNING id"
    );
    let values = std::iter::once(now.into()).chain(list.values());
    let marked = conn.query_all_raw(statement(conn, sql, values)).await?;
    let marked: std::collections::HashSet<i64> =
        marked.iter().map(|row| row.try_get("", "id")).collect::<Result<_, DbErr>>()?;
    Ok(ids.iter().copied().filter(|id| marked.contains(id)).collect())
}

async fn ids(cx: &Domain, query: Statement) -> Result<Vec<i64>> {
    let rows = cx.db.read.query_all_raw(query).await?;
    Ok(rows.iter().map(|row| row.try_get("", "id")).collect::<Result<_, DbErr>>()?)
}
