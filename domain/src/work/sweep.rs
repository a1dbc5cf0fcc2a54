//! Which rows the sweeper rings for.
//!
//! What it rang for stands in its own memory and nowhere else: a row that was rung and not taken is still due, and a
//! sweeper that knows nothing, because it has just begun or the queue has lost what it had, rings for all of it again. An
//! id waits in a queue only once.

use std::collections::{HashMap, HashSet};

use fanfare_entities::Millis;
use fanfare_jobs::{JobKind, JobRef};
use uuid::Uuid;

use super::{
    due::{Due, Place, State, WORKSPACES_A_TURN, due},
    is_shared,
    waiting::Waiting,
};
use crate::{Domain, error::Result};

/// A row that was rung and not taken is rung again after this many ms.
const RING_AGAIN: Millis = 10_000;

/// The same while the queue is empty: whoever took the row off it has died, or came a moment early.
const RING_AGAIN_AFTER_LOSS: Millis = 1_000;

/// What was rung and not taken is looked through again after this many ms.
const READ_AGAIN: Millis = 500;

/// A workspace that has no more ids than this on a queue is rung for although the queue is full: they pass what waits.
/// So few rows are read again in every turn.
const LITTLE: usize = 64;

/// So many rows of such a workspace are rung for in one turn.
const FEW: usize = 4;

/// So many such workspaces are rung for in one turn.
const NEWCOMERS: usize = 64;

/// More than this many rows that are due, rung and not taken are not kept in mind.
const REMEMBERED: usize = 65_536;

/// What the sweeper remembers between turns.
#[derive(Debug, Default)]
pub struct Turn {
    rounds: HashMap<JobKind, Round>,
}

/// What it remembers of one kind of work.
#[derive(Debug, Default)]
struct Round {
    /// The workspace the last turn ended with.
    position: Uuid,
    /// Which workspaces have due work.
    waiting: Waiting,
    /// What was rung for and, as far as it was seen, not taken.
    rung: HashMap<i64, DueJob>,
    /// How far due rows were rung for, of a workspace or (none) of all: what lies before was rung, and need not be read
    /// in every turn.
    reached: HashMap<Option<Uuid>, Place>,
    /// When reading began from the beginning again, by [`Clock::passed`](crate::clock::Clock::passed).
    begun: Millis,
    /// More was due in the last turn than there was room for, and the workspaces took turns.
    crowded: bool,
}

#[derive(Debug, Clone, Copy)]
struct DueJob {
    /// When, by [`Clock::passed`](crate::clock::Clock::passed).
    at: Millis,
    /// What it was like: one that is due otherwise was taken or moved meanwhile.
    state: State,
    workspace: Uuid,
}

impl Turn {
    /// Nothing that was rung for can be relied on: the queue has lost what it had.
    pub fn forget(&mut self) {
        for round in self.rounds.values_mut() {
            round.rung.clear();
            round.reached.clear();
        }
    }

    /// Up to `room` due rows of this kind in the order to ring them: those never rung before those rung again. While
    /// everything due fits the oldest goes first; beyond that the workspaces take turns, and where there is no room at
    /// all those that have next to nothing on the queue are rung for. `loss`: what was rung a second ago is rung again.
    ///
    /// # Errors
    /// The database's.
    pub async fn ring(
        &mut self,
        cx: &Domain,
        kind: JobKind,
        room: usize,
        loss: bool,
    ) -> Result<Vec<JobRef>> {
        let again = if loss { RING_AGAIN_AFTER_LOSS } else { RING_AGAIN };
        let passed = cx.clock.passed();
        let round = self.rounds.entry(kind).or_default();
        if passed - round.begun >= READ_AGAIN {
            round.begun = passed;
            round.reached.clear();
            round.waiting.walk_again();
        }
        let wanted = match room {
            0 => round.newcomers(cx, kind, passed - again).await?,
            _ => round.choose_for(cx, kind, passed - again, room).await?,
        };
        round.note(&wanted, passed);
        Ok(wanted.into_iter().map(|row| JobRef::of(row.workspace, row.id)).collect())
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

    /// Forgets what is no longer due, of one workspace or of all, now that up to `limit` rows that are due were read, the
    /// oldest first: what is missing among them was taken.
    fn forget_taken(&mut self, of: Option<Uuid>, due: &[Due], limit: usize) {
        let read_to = due.last().filter(|_| due.len() >= limit).map(Due::place);
        let due: HashSet<i64> = due.iter().map(|row| row.id).collect();
        self.rung.retain(|id, rung| {
            let is_of_another = of.is_some_and(|workspace| workspace != rung.workspace);
            let is_beyond = read_to.is_some_and(|end| (rung.state.0, *id) > end);
            is_of_another || is_beyond || due.contains(id)
        });
    }

    /// Rows for so much room: the oldest, or those of each workspace in turn.
    async fn choose_for(
        &mut self,
        cx: &Domain,
        kind: JobKind,
        rung_before: Millis,
        room: usize,
    ) -> Result<Vec<Due>> {
        if !self.crowded {
            let mut oldest =
                self.look(cx, kind, None, (room + 1, self.rung.len()), rung_before).await?;
            if oldest.len() <= room || !is_shared(kind) {
                oldest.truncate(room);
                self.reach(None, &oldest);
                return Ok(oldest);
            }
            self.reached.clear();
        }
        let shared = self.share_out(cx, kind, rung_before, room).await?;
        self.crowded = shared.len() >= room;
        if !self.crowded {
            self.reached.clear();
        }
        Ok(shared)
    }

    /// Up to `count` due rows that are worth a ring, of one workspace or of all, the oldest first. Where many wait on the
    /// queue (`known` of them) only those behind what was reached are read.
    async fn look(
        &mut self,
        cx: &Domain,
        kind: JobKind,
        of: Option<Uuid>,
        (count, known): (usize, usize),
        rung_before: Millis,
    ) -> Result<Vec<Due>> {
        let behind = self.reached.get(&of).copied().filter(|_| known > LITTLE);
        let limit = count + if behind.is_none() { known } else { 0 };
        let due = due(cx, kind, of, behind, limit).await?;
        if behind.is_none() && known > 0 {
            self.forget_taken(of, &due, limit);
        }
        let mut chosen = self.choose(&due, rung_before);
        chosen.truncate(count);
        Ok(chosen)
    }

    /// Notes that these are rung for, and with them all before them.
    fn reach(&mut self, of: Option<Uuid>, rows: &[Due]) {
        if let Some(last) = rows.iter().map(Due::place).max() {
            let reached = self.reached.entry(of).or_insert(last);
            *reached = last.max(*reached);
        }
    }

    fn note(&mut self, wanted: &[Due], at: Millis) {
        if self.rung.len() + wanted.len() > REMEMBERED {
            self.rung.clear();
        }
        let noted = |row: &Due| DueJob { at, state: row.state, workspace: row.workspace };
        let notes = wanted.iter().map(|row| (row.id, noted(row)));
        self.rung.extend(notes);
    }

    /// The oldest due rows of each workspace in turn, beginning behind the workspace the last turn ended with.
    async fn share_out(
        &mut self,
        cx: &Domain,
        kind: JobKind,
        rung_before: Millis,
        room: usize,
    ) -> Result<Vec<Due>> {
        let mut workspaces = self.workspaces(cx, kind).await?;
        workspaces.truncate(WORKSPACES_A_TURN.min(room));
        let share = (room / workspaces.len().max(1)).max(1);
        self.visit(cx, kind, &workspaces, share, rung_before).await
    }

    /// The oldest due rows of the workspaces that have next to nothing on the queue.
    async fn newcomers(
        &mut self,
        cx: &Domain,
        kind: JobKind,
        rung_before: Millis,
    ) -> Result<Vec<Due>> {
        if !is_shared(kind) {
            return Ok(Vec::new());
        }
        let known = self.known();
        let mut workspaces = self.workspaces(cx, kind).await?;
        workspaces.retain(|id| known.get(id).is_none_or(|known| *known <= LITTLE));
        workspaces.truncate(NEWCOMERS);
        self.visit(cx, kind, &workspaces, FEW, rung_before).await
    }

    /// How many rows of each workspace were rung for and, as far as it was seen, not taken.
    fn known(&self) -> HashMap<Uuid, usize> {
        let mut known = HashMap::new();
        for rung in self.rung.values() {
            *known.entry(rung.workspace).or_default() += 1;
        }
        known
    }

    /// Workspaces with due work, beginning behind the one the last turn ended with.
    async fn workspaces(&mut self, cx: &Domain, kind: JobKind) -> Result<Vec<Uuid>> {
        self.waiting.read(cx, kind).await?;
        Ok(self.waiting.behind(self.position))
    }

    /// Up to `share` of the oldest due rows of each of these workspaces, one of each in turn.
    async fn visit(
        &mut self,
        cx: &Domain,
        kind: JobKind,
        workspaces: &[Uuid],
        share: usize,
        rung_before: Millis,
    ) -> Result<Vec<Due>> {
        let known = self.known();
        let mut queues = Vec::with_capacity(workspaces.len());
        for workspace in workspaces {
            let known = known.get(workspace).copied().unwrap_or(0);
            let of = Some(*workspace);
            let chosen = self.look(cx, kind, of, (share, known), rung_before).await?;
            self.reach(Some(*workspace), &chosen);
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

    fn known(round: &Round) -> Vec<i64> {
        let mut ids: Vec<i64> = round.rung.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    #[test]
    fn what_was_taken_is_forgotten_as_far_as_was_read() {
        let mut round = Round::default();
        round.note(&rows(1..=6, ONE), 0);
        round.note(&rows([7], OTHER), 0);
        // Rows 1, 2 and 4 were taken; it was read no further than row 5.
        round.forget_taken(None, &rows([3, 5], ONE), 2);
        assert_eq!(known(&round), [3, 5, 6, 7]);
        // Everything due of one workspace was read.
        round.forget_taken(Some(ONE), &rows([5], ONE), 2);
        assert_eq!(known(&round), [5, 7]);
        round.forget_taken(None, &[], 2);
        assert!(round.rung.is_empty());
    }

    #[test]
    fn what_waits_is_rung_again_only_after_a_while_or_when_it_has_changed() {
        let mut round = Round::default();
        round.note(&rows([1, 2], ONE), 1_000);
        let ids = |due: Vec<Due>| due.into_iter().map(|row| row.id).collect::<Vec<_>>();
        assert_eq!(ids(round.choose(&rows([1, 2, 3], ONE), 999)), [3]);
        assert_eq!(ids(round.choose(&rows([1, 2, 3], ONE), 1_000)), [3, 1, 2]);
        let moved = Due { state: (20, 1), ..row(2, ONE) };
        assert_eq!(ids(round.choose(&[row(1, ONE), moved], 999)), [2]);
    }

    #[test]
    fn what_was_rung_for_is_reached_and_never_left_behind() {
        let mut round = Round::default();
        round.reach(Some(ONE), &rows([3, 1, 2], ONE));
        round.reach(Some(ONE), &rows([2], ONE));
        round.reach(None, &[]);
        assert_eq!(round.reached, HashMap::from([(Some(ONE), (30, 3))]));
    }
}
