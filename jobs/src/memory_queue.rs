use std::{
    collections::{HashSet, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// Ids of one kind that wait in this process, in the order they were pushed, each at most once.
#[derive(Debug, Default)]
pub(crate) struct MemoryQueue {
    waiting: Mutex<Waiting>,
    rung: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    order: VecDeque<i64>,
    known: HashSet<i64>,
}

impl MemoryQueue {
    /// Puts ids at the end; those that already wait keep their place.
    pub(crate) fn push(&self, ids: &[i64]) {
        let mut waiting = self.lock();
        let Waiting { order, known } = &mut *waiting;
        order.extend(ids.iter().copied().filter(|id| known.insert(*id)));
        self.wake_one_if_any(&waiting);
    }

    /// Puts ids that were taken and not worked on back at the front, in their old order.
    pub(crate) fn put_back(&self, ids: &[i64]) {
        let mut waiting = self.lock();
        for id in ids.iter().rev() {
            if waiting.known.insert(*id) {
                waiting.order.push_front(*id);
            }
        }
        self.wake_one_if_any(&waiting);
    }

    /// Takes up to `room` ids; from then on they may be pushed again.
    pub(crate) fn take(&self, room: usize) -> Vec<i64> {
        let mut waiting = self.lock();
        let Waiting { order, known } = &mut *waiting;
        let count = room.min(order.len());
        let ids: Vec<i64> = order.drain(..count).inspect(|id| _ = known.remove(id)).collect();
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
        self.lock().order.iter().position(|waiting| *waiting == id)
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
        // Nothing that runs under the lock can stop half way and leave the two collections apart.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_leave_in_the_order_they_came_and_wait_once() {
        let queue = MemoryQueue::default();
        queue.push(&[5, 3, 9]);
        queue.push(&[3, 1, 5, 1]);
        assert_eq!(queue.len(), 4);
        assert_eq!((queue.place(9), queue.place(7)), (Some(2), None));
        assert_eq!(queue.take(3), [5, 3, 9]);
        queue.push(&[3]);
        assert_eq!(queue.take(64), [1, 3], "a taken id may be pushed again");
        assert_eq!(queue.take(64), [] as [i64; 0]);
    }

    #[test]
    fn what_is_put_back_comes_first_again_unless_it_waits_already() {
        let queue = MemoryQueue::default();
        queue.push(&[1, 2, 3, 4]);
        let taken = queue.take(3);
        queue.push(&[2]);
        queue.put_back(&taken);
        assert_eq!(queue.take(64), [1, 3, 4, 2]);
    }

    #[tokio::test]
    async fn a_push_is_not_missed_by_who_comes_to_wait_later() {
        let queue = MemoryQueue::default();
        queue.push(&[1, 2]);
        queue.rung().await;
        assert_eq!(queue.take(1), [1]);
        queue.rung().await; // woken by the one who left 2 behind
        assert_eq!(queue.take(1), [2]);
    }
}
