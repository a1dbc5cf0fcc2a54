use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

use crate::{JobRef, fair_queue::FairQueue};

/// The queued ids of one kind in this process, in [fair order](FairQueue), each at most once.
#[derive(Debug, Default)]
pub(crate) struct MemoryQueue {
    waiting: Mutex<State>,
    pushed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Ids by position.
    order: BTreeSet<(i64, i64)>,
    /// The position of each id.
    positions: HashMap<i64, i64>,
    fair_queue: FairQueue,
}

impl State {
    fn head(&self) -> Option<i64> {
        self.order.first().map(|(position, _)| *position)
    }

    fn put(&mut self, id: i64, position: i64) {
        self.order.insert((position, id));
        self.positions.insert(id, position);
    }
}

impl MemoryQueue {
    /// Adds ids at their fair positions; ids that are already queued keep theirs.
    pub(crate) fn push(&self, jobs: impl IntoIterator<Item = JobRef>) {
        let mut waiting = self.lock();
        let head = waiting.head();
        waiting.fair_queue.advance(head);
        for job in jobs {
            if !waiting.positions.contains_key(&job.id) {
                let position = waiting.fair_queue.next(job.tenant);
                waiting.put(job.id, position);
            }
        }
        self.wake_one_if_any(&waiting);
    }

    /// Puts dequeued ids that were not worked on back to the front, in their old order.
    pub(crate) fn put_back(&self, ids: &[i64]) {
        let mut waiting = self.lock();
        for id in ids.iter().rev() {
            if !waiting.positions.contains_key(id) {
                let position = waiting.head().unwrap_or(0) - 1;
                waiting.put(*id, position);
            }
        }
        self.wake_one_if_any(&waiting);
    }

    /// Removes and returns up to `room` ids. They may be pushed again.
    pub(crate) fn take(&self, room: usize) -> Vec<i64> {
        let mut waiting = self.lock();
        let State { order, positions, .. } = &mut *waiting;
        let mut ids = Vec::new();
        while ids.len() < room
            && let Some((_, id)) = order.pop_first()
        {
            positions.remove(&id);
            ids.push(id);
        }
        // One push wakes one worker; a worker that leaves ids behind wakes the next.
        self.wake_one_if_any(&waiting);
        ids
    }

    /// Returns the number of queued ids.
    pub(crate) fn len(&self) -> usize {
        self.lock().order.len()
    }

    /// Returns the number of ids ahead of this one, or `None` if it is not queued.
    pub(crate) fn position(&self, id: i64) -> Option<usize> {
        let waiting = self.lock();
        let position = *waiting.positions.get(&id)?;
        Some(waiting.order.range(..(position, id)).count())
    }

    /// Waits for a push. Another worker may already have taken the pushed ids.
    pub(crate) async fn pushed(&self) {
        self.pushed.notified().await;
    }

    fn wake_one_if_any(&self, waiting: &State) {
        if !waiting.order.is_empty() {
            self.pushed.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code under the lock can panic between the two collections' updates.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_leave_in_the_order_they_came_and_wait_once() {
        let queue = MemoryQueue::default();
        queue.push([5, 3, 9].map(JobRef::from));
        queue.push([3, 1, 5, 1].map(JobRef::from));
        assert_eq!(queue.len(), 4);
        assert_eq!((queue.position(9), queue.position(7)), (Some(2), None));
        assert_eq!(queue.take(3), [5, 3, 9]);
        queue.push([3].map(JobRef::from));
        assert_eq!(queue.take(64), [1, 3], "a taken id may be pushed again");
        assert_eq!(queue.take(64), [] as [i64; 0]);
    }

    #[test]
    fn what_is_put_back_comes_first_again_unless_it_waits_already() {
        let queue = MemoryQueue::default();
        queue.push([1, 2, 3, 4].map(JobRef::from));
        let taken = queue.take(3);
        queue.push([2].map(JobRef::from));
        queue.put_back(&taken);
        assert_eq!(queue.take(64), [1, 3, 4, 2]);
    }

    #[test]
    fn a_new_tenant_passes_a_burst_and_two_bursts_alternate() {
        let [loud, quiet, other] = [1, 2, 3].map(uuid::Uuid::from_u128);
        let queue = MemoryQueue::default();
        queue.push((0..1_000).map(|id| JobRef::of(loud, id)));
        assert_eq!(queue.take(3), [0, 1, 2]);
        queue.push([JobRef::of(quiet, 5_000)]);
        queue.push((6_000..6_003).map(|id| JobRef::of(other, id)));
        assert_eq!(queue.take(9), [3, 5_000, 6_000, 4, 6_001, 5, 6_002, 6, 7]);
        // A tenant that had its turn has no more than others.
        queue.push([JobRef::of(quiet, 5_001), JobRef::of(other, 6_003)]);
        assert_eq!(queue.take(4), [8, 5_001, 6_003, 9]);
    }

    #[test]
    fn what_one_tenant_had_while_it_was_alone_is_not_held_against_it() {
        let [early, late] = [1, 2].map(uuid::Uuid::from_u128);
        let queue = MemoryQueue::default();
        queue.push((0..100).map(|id| JobRef::of(early, id)));
        assert_eq!(queue.take(100).len(), 100);
        queue.push([JobRef::of(early, 200), JobRef::of(late, 300)]);
        queue.put_back(&[7]);
        assert_eq!(queue.take(9), [7, 200, 300]);
    }

    #[tokio::test]
    async fn a_push_is_not_missed_by_who_comes_to_wait_later() {
        let queue = MemoryQueue::default();
        queue.push([1, 2].map(JobRef::from));
        queue.pushed().await;
        assert_eq!(queue.take(1), [1]);
        queue.pushed().await; // woken by the one who left 2 behind
        assert_eq!(queue.take(1), [2]);
    }
}
