//! Which rows the sweeper rings for.
//!
//! What it rang for stands in its own memory and nowhere else: a row that was rung and not taken is still due, and a
//! sweeper that knows nothing, because it has just begun or the queue has lost what it had, rings for all of it again. An
//! id waits in a queue only once.

use std::collections::{HashMap, HashSet};

use fanfare_entities::Millis;
use fanfare_jobs::Kind;
use sea_orm::{ConnectionTrait, DbErr, Statement};
use uuid::Uuid;

use super::{is_shared, table};
use crate::{Domain, db::statement, error::Result};

/// A row that was rung and not taken is rung again after this many ms.
const RING_AGAIN: Millis = 10_000;

/// The same while the queue is empty: whoever took the row off it has died, or came a moment early.
const RING_AGAIN_AFTER_LOSS: Millis = 1_000;

/// At most this many workspaces are visited in one turn.
const WORKSPACES_A_TURN: usize = 1_000;

/// More than this many rows that are due, rung and not taken are not kept in mind.
const REMEMBERED: usize = 65_536;

/// What the sweeper remembers between turns.
#[derive(Debug, Default)]
pub struct Turn {
    rounds: HashMap<Kind, Round>,
}

/// What it remembers of one kind of work.
#[derive(Debug, Default)]
struct Round {
    /// The workspace the last turn ended with.
    position: Uuid,
    /// What was rung for and, as far as it was seen, not taken.
    rung: HashMap<i64, Rung>,
}

#[derive(Debug, Clone, Copy)]
struct Rung {
    /// When, by [`Clock::passed`](crate::clock::Clock::passed).
    at: Millis,
    /// What it was like: one that is due otherwise was taken or moved meanwhile.
    state: State,
    workspace: Uuid,
}

/// When it is due, and its fence, which whoever takes it raises.
type State = (Millis, i64);

/// A row that is due. What belongs to no workspace belongs to the nil one here.
#[derive(Debug, Clone, Copy)]
struct Due {
    id: i64,
    state: State,
    workspace: Uuid,
}

impl Turn {
    /// Nothing that was rung for can be relied on: the queue has lost what it had.
    pub fn forget(&mut self) {
        for round in self.rounds.values_mut() {
            round.rung.clear();
        }
    }

    /// Up to `room` due rows of this kind in the order to ring them: those never rung before those rung again. While
    /// everything due fits the oldest goes first; beyond that the workspaces take turns. `loss`: what was rung a second
    /// ago is rung again.
    ///
    /// # Errors
    /// The database's.
    pub async fn ring(
        &mut self,
        cx: &Domain,
        kind: Kind,
        room: usize,
        loss: bool,
    ) -> Result<Vec<i64>> {
        let again = if loss { RING_AGAIN_AFTER_LOSS } else { RING_AGAIN };
        let passed = cx.clock.passed();
        let round = self.rounds.entry(kind).or_default();
        let limit = room + round.rung.len() + 1;
        let due = due(cx, kind, limit).await?;
        if due.len() < limit {
            round.keep_only(None, &due);
        }
        let mut wanted = round.choose(&due, passed - again);
        if wanted.len() > room && is_shared(kind) {
            wanted = round.share_out(cx, kind, passed - again, room).await?;
        }
        wanted.truncate(room);
        round.note(&wanted, passed);
        Ok(wanted.into_iter().map(|row| row.id).collect())
    }
}

impl Round {
    /// Those of `due` that are worth a ring: never rung for, then rung for before `rung_before`.
    fn choose(&self, due: &[Due], rung_before: Millis) -> Vec<Due> {
        let rung = |row: &&Due| self.rung.get(&row.id).filter(|rung| rung.state == row.state);
        let fresh = due.iter().filter(|row| rung(row).is_none());
        let again = due.iter().filter(|row| rung(row).is_some_and(|rung| rung.at <= rung_before));
        fresh.chain(again).copied().collect()
    }

    /// Forgets what is no longer due, of one workspace or of all, now that everything due was read.
    fn keep_only(&mut self, of: Option<Uuid>, due: &[Due]) {
        let due: HashSet<i64> = due.iter().map(|row| row.id).collect();
        let others = |rung: &Rung| of.is_some_and(|workspace| workspace != rung.workspace);
        self.rung.retain(|id, rung| others(rung) || due.contains(id));
    }

    fn note(&mut self, wanted: &[Due], at: Millis) {
        if self.rung.len() + wanted.len() > REMEMBERED {
            self.rung.clear();
        }
        let noted = |row: &Due| Rung { at, state: row.state, workspace: row.workspace };
        let notes = wanted.iter().map(|row| (row.id, noted(row)));
        self.rung.extend(notes);
    }

    /// The oldest due rows of each workspace in turn, beginning behind the workspace the last turn ended with.
    async fn share_out(
        &mut self,
        cx: &Domain,
        kind: Kind,
        rung_before: Millis,
        room: usize,
    ) -> Result<Vec<Due>> {
        let (now, from) = (cx.clock.now(), self.position);
        let mut workspaces = workspaces(cx, kind, now, from).await?;
        if workspaces.len() < WORKSPACES_A_TURN && !from.is_nil() {
            let wrapped = self::workspaces(cx, kind, now, Uuid::nil()).await?;
            workspaces.extend(wrapped.into_iter().filter(|id| *id <= from));
        }
        workspaces.truncate(WORKSPACES_A_TURN.min(room));
        let share = (room / workspaces.len().max(1)).max(1);
        let mut known: HashMap<Uuid, usize> = HashMap::new();
        for rung in self.rung.values() {
            *known.entry(rung.workspace).or_default() += 1;
        }
        let mut queues = Vec::with_capacity(workspaces.len());
        for workspace in &workspaces {
            let limit = share + known.get(workspace).copied().unwrap_or(0);
            let due = due_of(cx, kind, *workspace, limit).await?;
            if due.len() < limit {
                self.keep_only(Some(*workspace), &due);
            }
            let mut chosen = self.choose(&due, rung_before);
            chosen.truncate(share);
            queues.push(chosen);
        }
        if let Some(last) = workspaces.last() {
            self.position = *last;
        }
        Ok(interleave(&queues))
    }
}

/// First of each, then second of each, and so on.
fn interleave(queues: &[Vec<Due>]) -> Vec<Due> {
    let longest = queues.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest)
        .flat_map(|place| queues.iter().filter_map(move |queue| queue.get(place)))
        .copied()
        .collect()
}

/// Up to `limit` due rows, the oldest first: a walk along the index of due times.
async fn due(cx: &Domain, kind: Kind, limit: usize) -> Result<Vec<Due>> {
    let workspace = if is_shared(kind) { "workspace_id" } else { "NULL AS workspace_id" };
    let sql = format!(
        "SELECT id, due_at, fence, {workspace} FROM {} WHERE due_at <= $1 ORDER BY due_at, id LIMIT {limit}",
        table(kind)
    );
    rows(cx, statement(&cx.db.read, sql, [cx.clock.now().into()])).await
}

async fn due_of(cx: &Domain, kind: Kind, workspace: Uuid, limit: usize) -> Result<Vec<Due>> {
    let sql = format!(
        "SELECT id, due_at, fence, workspace_id FROM {} WHERE workspace_id = $2 AND due_at <= $1 \
         ORDER BY due_at, id LIMIT {limit}",
        table(kind)
    );
    rows(cx, statement(&cx.db.read, sql, [cx.clock.now().into(), workspace.into()])).await
}

async fn rows(cx: &Domain, query: Statement) -> Result<Vec<Due>> {
    let rows = cx.db.read.query_all_raw(query).await?;
    let rows = rows.iter().map(|row| {
        let workspace = row.try_get::<Option<Uuid>>("", "workspace_id")?.unwrap_or_default();
        let state = (row.try_get("", "due_at")?, row.try_get("", "fence")?);
        Ok(Due { id: row.try_get("", "id")?, state, workspace })
    });
    Ok(rows.collect::<Result<_, DbErr>>()?)
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
