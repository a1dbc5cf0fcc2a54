//! Selects the rows that the scheduler enqueues.
//!
//! The scheduler remembers enqueued rows in memory only: a row that was enqueued and not claimed is still due, and a
//! scheduler without memory, because it has just started or the queue was flushed, enqueues all of them again. An id is
//! queued only once.

use std::collections::{HashMap, HashSet};

use fanfare_entities::Millis;
use fanfare_jobs::{JobKind, JobRef};
use uuid::Uuid;

use super::{
    due::{Due, DuePosition, RowState, WORKSPACES_A_TURN, due},
    due_tenants::DueTenants,
};
use crate::{Domain, error::Result};

/// A row that was enqueued and not claimed is enqueued again after this many ms.
const RETRY_AFTER: Millis = 10_000;

/// The same while the queue is empty: the worker that took the id has died, or came too early.
const RETRY_AFTER_LOSS: Millis = 1_000;

/// Rows that were enqueued and not claimed are read again after this many ms.
const REREAD_EVERY: Millis = 500;

/// A workspace with at most this many ids on a queue is a light tenant: its rows are enqueued although the queue is full,
/// because they pass the others. So few rows are read again in every turn.
const LIGHT_TENANT: usize = 64;

/// The most rows of a light tenant to enqueue in one turn.
const ROWS_PER_LIGHT_TENANT: usize = 4;

/// The most light tenants to serve in one turn.
const MAX_LIGHT_TENANTS: usize = 64;

/// The most enqueued rows to remember.
const MAX_REMEMBERED: usize = 65_536;

/// The memory of the scheduler between turns.
#[derive(Debug, Default)]
pub struct Selection {
    kinds: HashMap<JobKind, KindState>,
}

/// Its memory of one kind of work.
#[derive(Debug, Default)]
struct KindState {
    /// The workspace that the last turn ended with.
    position: Uuid,
    /// The workspaces that have due work.
    due_tenants: DueTenants,
    /// The enqueued rows that have not been claimed as far as we know.
    enqueued: HashMap<i64, Enqueued>,
    /// The position up to which due rows are enqueued, of one workspace or (`None`) of all: earlier rows need not be
    /// read in every turn.
    reached: HashMap<Option<Uuid>, DuePosition>,
    /// The time at which reading last started from the beginning, by [`Clock::passed`](crate::clock::Clock::passed).
    begun: Millis,
    /// In the last turn more rows were due than there was room for, so the workspaces took turns.
    crowded: bool,
}

#[derive(Debug, Clone, Copy)]
struct Enqueued {
    /// The time, by [`Clock::passed`](crate::clock::Clock::passed).
    at: Millis,
    /// Its state then: a row in another state was claimed or moved since.
    state: RowState,
    workspace: Uuid,
}

impl Selection {
    /// Forgets all enqueued rows, because the queue has lost them.
    pub fn forget(&mut self) {
        for state in self.kinds.values_mut() {
            state.enqueued.clear();
            state.reached.clear();
        }
    }

    /// Selects up to `room` due rows of this kind, new rows before rows to enqueue again. While all due rows fit, the
    /// oldest comes first; otherwise the workspaces take turns, and without room only light tenants are served. With
    /// `loss`, rows that were enqueued a second ago are enqueued again.
    ///
    /// # Errors
    /// The database's.
    pub async fn select(
        &mut self,
        cx: &Domain,
        kind: JobKind,
        room: usize,
        loss: bool,
    ) -> Result<Vec<JobRef>> {
        let again = if loss { RETRY_AFTER_LOSS } else { RETRY_AFTER };
        let passed = cx.clock.elapsed_ms();
        let state = self.kinds.entry(kind).or_default();
        if passed - state.begun >= REREAD_EVERY {
            state.begun = passed;
            state.reached.clear();
            state.due_tenants.walk_again();
        }
        let wanted = match room {
            0 => state.light_tenants(cx, kind, passed - again).await?,
            _ => state.choose_for(cx, kind, passed - again, room).await?,
        };
        state.remember(&wanted, passed);
        Ok(wanted.into_iter().map(|row| JobRef::of(row.workspace, row.id)).collect())
    }
}

impl KindState {
    /// Returns the rows of `due` to enqueue: new rows, then those last enqueued before `enqueued_before`.
    fn choose(&self, due: &[Due], enqueued_before: Millis) -> Vec<Due> {
        let enqueued =
            |row: &&Due| self.enqueued.get(&row.id).filter(|enqueued| enqueued.state == row.state);
        let fresh = due.iter().filter(|row| enqueued(row).is_none());
        let again = due
            .iter()
            .filter(|row| enqueued(row).is_some_and(|enqueued| enqueued.at <= enqueued_before));
        fresh.chain(again).copied().collect()
    }

    /// Forgets claimed rows, of one workspace or of all, after up to `limit` due rows were read, oldest first: an
    /// enqueued row that is missing from them was claimed.
    fn forget_claimed(&mut self, of: Option<Uuid>, due: &[Due], limit: usize) {
        let read_to = due.last().filter(|_| due.len() >= limit).map(Due::position);
        let due: HashSet<i64> = due.iter().map(|row| row.id).collect();
        self.enqueued.retain(|id, enqueued| {
            let is_of_another = of.is_some_and(|workspace| workspace != enqueued.workspace);
            let is_beyond = read_to.is_some_and(|end| (enqueued.state.0, *id) > end);
            is_of_another || is_beyond || due.contains(id)
        });
    }

    /// Selects `room` rows: the oldest ones, or some of each workspace in turn.
    async fn choose_for(
        &mut self,
        cx: &Domain,
        kind: JobKind,
        enqueued_before: Millis,
        room: usize,
    ) -> Result<Vec<Due>> {
        if !self.crowded {
            let mut oldest = self
                .read_due(cx, kind, None, (room + 1, self.enqueued.len()), enqueued_before)
                .await?;
            if oldest.len() <= room || !kind.is_shared() {
                oldest.truncate(room);
                self.reach(None, &oldest);
                return Ok(oldest);
            }
            self.reached.clear();
        }
        let shared = self.select_in_turn(cx, kind, enqueued_before, room).await?;
        self.crowded = shared.len() >= room;
        if !self.crowded {
            self.reached.clear();
        }
        Ok(shared)
    }

    /// Returns up to `count` due rows to enqueue, of one workspace or of all, oldest first. While many are queued
    /// (`known` of them) only rows after the reached position are read.
    async fn read_due(
        &mut self,
        cx: &Domain,
        kind: JobKind,
        of: Option<Uuid>,
        (count, known): (usize, usize),
        enqueued_before: Millis,
    ) -> Result<Vec<Due>> {
        let behind = self.reached.get(&of).copied().filter(|_| known > LIGHT_TENANT);
        let limit = count + if behind.is_none() { known } else { 0 };
        let due = due(cx, kind, of, behind, limit).await?;
        if behind.is_none() && known > 0 {
            self.forget_claimed(of, &due, limit);
        }
        let mut chosen = self.choose(&due, enqueued_before);
        chosen.truncate(count);
        Ok(chosen)
    }

    /// Records that these rows, and all before them, are enqueued.
    fn reach(&mut self, of: Option<Uuid>, rows: &[Due]) {
        if let Some(last) = rows.iter().map(Due::position).max() {
            let reached = self.reached.entry(of).or_insert(last);
            *reached = last.max(*reached);
        }
    }

    fn remember(&mut self, wanted: &[Due], at: Millis) {
        if self.enqueued.len() + wanted.len() > MAX_REMEMBERED {
            self.enqueued.clear();
        }
        let noted = |row: &Due| Enqueued { at, state: row.state, workspace: row.workspace };
        let notes = wanted.iter().map(|row| (row.id, noted(row)));
        self.enqueued.extend(notes);
    }

    /// Selects the oldest due rows of each workspace in turn, beginning after the workspace that the last turn ended
    /// with.
    async fn select_in_turn(
        &mut self,
        cx: &Domain,
        kind: JobKind,
        enqueued_before: Millis,
        room: usize,
    ) -> Result<Vec<Due>> {
        let mut workspaces = self.workspaces(cx, kind).await?;
        workspaces.truncate(WORKSPACES_A_TURN.min(room));
        let share = (room / workspaces.len().max(1)).max(1);
        self.visit(cx, kind, &workspaces, share, enqueued_before).await
    }

    /// Selects the oldest due rows of light tenants.
    async fn light_tenants(
        &mut self,
        cx: &Domain,
        kind: JobKind,
        enqueued_before: Millis,
    ) -> Result<Vec<Due>> {
        if !kind.is_shared() {
            return Ok(Vec::new());
        }
        let known = self.enqueued_per_workspace();
        let mut workspaces = self.workspaces(cx, kind).await?;
        workspaces.retain(|id| known.get(id).is_none_or(|known| *known <= LIGHT_TENANT));
        workspaces.truncate(MAX_LIGHT_TENANTS);
        self.visit(cx, kind, &workspaces, ROWS_PER_LIGHT_TENANT, enqueued_before).await
    }

    /// Counts the enqueued rows of each workspace that have not been claimed as far as we know.
    fn enqueued_per_workspace(&self) -> HashMap<Uuid, usize> {
        let mut known = HashMap::new();
        for enqueued in self.enqueued.values() {
            *known.entry(enqueued.workspace).or_default() += 1;
        }
        known
    }

    /// Returns the workspaces with due work, beginning after the one that the last turn ended with.
    async fn workspaces(&mut self, cx: &Domain, kind: JobKind) -> Result<Vec<Uuid>> {
        self.due_tenants.read(cx, kind).await?;
        Ok(self.due_tenants.behind(self.position))
    }

    /// Selects up to `share` of the oldest due rows of each of these workspaces, one of each in turn.
    async fn visit(
        &mut self,
        cx: &Domain,
        kind: JobKind,
        workspaces: &[Uuid],
        share: usize,
        enqueued_before: Millis,
    ) -> Result<Vec<Due>> {
        let known = self.enqueued_per_workspace();
        let mut queues = Vec::with_capacity(workspaces.len());
        for workspace in workspaces {
            let known = known.get(workspace).copied().unwrap_or(0);
            let of = Some(*workspace);
            let chosen = self.read_due(cx, kind, of, (share, known), enqueued_before).await?;
            self.reach(Some(*workspace), &chosen);
            queues.push(chosen);
        }
        if let Some(last) = workspaces.last() {
            self.position = *last;
        }
        Ok(interleave(&queues))
    }
}

/// Returns the first row of each queue, then the second of each, and so on.
fn interleave(queues: &[Vec<Due>]) -> Vec<Due> {
    let longest = queues.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest)
        .flat_map(|place| queues.iter().filter_map(move |queue| queue.get(place)))
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Uuid = Uuid::from_u128(1);
    const OTHER: Uuid = Uuid::from_u128(2);

    fn row(id: i64, workspace: Uuid) -> Due {
        Due { id, state: (id * 10, 0), workspace }
    }

    fn rows(ids: impl IntoIterator<Item = i64>, workspace: Uuid) -> Vec<Due> {
        ids.into_iter().map(|id| row(id, workspace)).collect()
    }

    fn known(state: &KindState) -> Vec<i64> {
        let mut ids: Vec<i64> = state.enqueued.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    #[test]
    fn what_was_taken_is_forgotten_as_far_as_was_read() {
        let mut state = KindState::default();
        state.remember(&rows(1..=6, ONE), 0);
        state.remember(&rows([7], OTHER), 0);
        // Rows 1, 2 and 4 were taken; it was read no further than row 5.
        state.forget_claimed(None, &rows([3, 5], ONE), 2);
        assert_eq!(known(&state), [3, 5, 6, 7]);
        // Everything due of one workspace was read.
        state.forget_claimed(Some(ONE), &rows([5], ONE), 2);
        assert_eq!(known(&state), [5, 7]);
        state.forget_claimed(None, &[], 2);
        assert!(state.enqueued.is_empty());
    }

    #[test]
    fn a_queued_row_is_enqueued_again_only_after_a_while_or_when_it_has_changed() {
        let mut state = KindState::default();
        state.remember(&rows([1, 2], ONE), 1_000);
        let ids = |due: Vec<Due>| due.into_iter().map(|row| row.id).collect::<Vec<_>>();
        assert_eq!(ids(state.choose(&rows([1, 2, 3], ONE), 999)), [3]);
        assert_eq!(ids(state.choose(&rows([1, 2, 3], ONE), 1_000)), [3, 1, 2]);
        let moved = Due { state: (20, 1), ..row(2, ONE) };
        assert_eq!(ids(state.choose(&[row(1, ONE), moved], 999)), [2]);
    }

    #[test]
    fn enqueued_rows_are_reached_and_never_left_behind() {
        let mut state = KindState::default();
        state.reach(Some(ONE), &rows([3, 1, 2], ONE));
        state.reach(Some(ONE), &rows([2], ONE));
        state.reach(None, &[]);
        assert_eq!(state.reached, HashMap::from([(Some(ONE), (30, 3))]));
    }
}
