use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

use crate::{Ring, turns::Turns};

/// Ids of one kind that wait in this process, in the order of their [turns](Turns), each at most once.
#[derive(Debug, Default)]
pub(crate) struct MemoryQueue {
    waiting: Mutex<Waiting>,
    rung: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Ids by their places.
    order: BTreeSet<(i64, i64)>,
    /// The place of each.
    places: HashMap<i64, i64>,
    turns: Turns,
}

impl Waiting {
    fn head(&self) -> Option<i64> {
        self.order.first().map(|(place, _)| *place)
    }

    fn put(&mut self, id: i64, place: i64) {
        self.order.insert((place, id));
        self.places.insert(id, place);
    }
}

impl MemoryQueue {
    /// Gives ids their places; those that already wait keep theirs.
    pub(crate) fn push(&self, rings: impl IntoIterator<Item = Ring>) {
        let mut waiting = self.lock();
        let head = waiting.head();
        waiting.turns.serve(head);
        for ring in rings {
            if !waiting.places.contains_key(&ring.id) {
                let place = waiting.turns.next(ring.tenant);
                waiting.put(ring.id, place);
            }
        }
        self.wake_one_if_any(&waiting);
    }

    /// Puts ids that were taken and not worked on back at the front, in their old order.
    pub(crate) fn put_back(&self, ids: &[i64]) {
        let mut waiting = self.lock();
        for id in ids.iter().rev() {
            if !waiting.places.contains_key(id) {
                let place = waiting.head().unwrap_or(0) - 1;
                waiting.put(*id, place);
            }
        }
        self.wake_one_if_any(&waiting);
    }

    /// Takes up to `room` ids; from then on they may be pushed again.
    pub(crate) fn take(&self, room: usize) -> Vec<i64> {
        let mut waiting = self.lock();
        let Waiting { order, places, .. } = &mut *waiting;
        let mut ids = Vec::new();
        while ids.len() < room
            && let Some((_, id)) = order.pop_first()
        {
            places.remove(&id);
            ids.push(id);
        }
        // One push wakes one worker; whoever leaves something behind wakes the next.
        self.wake_one_if_any(&waiting);
        ids
    }

    /// How many ids wait.
    pub(crate) fn len(&self) -> usize {
        self.lock().order.len()
    }

    /// How many ids wait before this one; `None` if it does not wait.
    pub(crate) fn place(&self, id: i64) -> Option<usize> {
        let waiting = self.lock();
        let place = *waiting.places.get(&id)?;
        Some(waiting.order.range(..(place, id)).count())
    }

    /// Waits for a push. May also end when another worker has already taken what was pushed.
    pub(crate) async fn rung(&self) {
        self.rung.notified().await;
    }

    fn wake_one_if_any(&self, waiting: &Waiting) {
        if !waiting.order.is_empty() {
            self.rung.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Nothing that runs under the lock can stop half way and leave the collections apart.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_leave_in_the_order_they_came_and_wait_once() {
        let queue = MemoryQueue::default();
        queue.push([5, 3, 9].map(Ring::from));
        queue.push([3, 1, 5, 1].map(Ring::from));
        assert_eq!(queue.len(), 4);
        assert_eq!((queue.place(9), queue.place(7)), (Some(2), None));
        assert_eq!(queue.take(3), [5, 3, 9]);
        queue.push([3].map(Ring::from));
        assert_eq!(queue.take(64), [1, 3], "a taken id may be pushed again");
        assert_eq!(queue.take(64), [] as [i64; 0]);
    }

    #[test]
    fn what_is_put_back_comes_first_again_unless_it_waits_already() {
        let queue = MemoryQueue::default();
        queue.push([1, 2, 3, 4].map(Ring::from));
        let taken = queue.take(3);
        queue.push([2].map(Ring::from));
        queue.put_back(&taken);
        assert_eq!(queue.take(64), [1, 3, 4, 2]);
    }

    #[test]
    fn a_newcomer_passes_a_burst_and_two_bursts_alternate() {
        let [loud, quiet, other] = [1, 2, 3].map(uuid::Uuid::from_u128);
        let queue = MemoryQueue::default();
        queue.push((0..1_000).map(|id| Ring::of(loud, id)));
        assert_eq!(queue.take(3), [0, 1, 2]);
        queue.push([Ring::of(quiet, 5_000)]);
        queue.push((6_000..6_003).map(|id| Ring::of(other, id)));
        assert_eq!(queue.take(9), [3, 5_000, 6_000, 4, 6_001, 5, 6_002, 6, 7]);
        // A tenant that had its turn has no more than others.
        queue.push([Ring::of(quiet, 5_001), Ring::of(other, 6_003)]);
        assert_eq!(queue.take(4), [8, 5_001, 6_003, 9]);
    }

    #[test]
    fn what_one_tenant_had_while_it_was_alone_is_not_held_against_it() {
        let [early, late] = [1, 2].map(uuid::Uuid::from_u128);
        let queue = MemoryQueue::default();
        queue.push((0..100).map(|id| Ring::of(early, id)));
        assert_eq!(queue.take(100).len(), 100);
        queue.push([Ring::of(early, 200), Ring::of(late, 300)]);
        queue.put_back(&[7]);
        assert_eq!(queue.take(9), [7, 200, 300]);
    }

    #[tokio::test]
    async fn a_push_is_not_missed_by_who_comes_to_wait_later() {
        let queue = MemoryQueue::default();
        queue.push([1, 2].map(Ring::from));
        queue.rung().await;
        assert_eq!(queue.take(1), [1]);
        queue.rung().await; // woken by the one who left 2 behind
        assert_eq!(queue.take(1), [2]);
    }
}
