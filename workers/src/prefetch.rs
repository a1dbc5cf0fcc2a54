//! Bounds how many ids are queued at once.
//!
//! Queued rows are read again in every turn of the scheduler, and a flush loses them. So only as many are queued as the
//! workers take between two turns. The bound grows when workers ran out of ids, and shrinks when most ids are left.

/// The smallest and the largest bound.
const BOUNDS: (usize, usize) = (64, 1_024);

/// The prefetch bound of one kind of work.
#[derive(Debug)]
pub struct Prefetch {
    length: usize,
    /// The last turn filled the queue: more rows were due.
    filled: bool,
}

impl Default for Prefetch {
    fn default() -> Self {
        Self { length: BOUNDS.0, filled: false }
    }
}

impl Prefetch {
    /// Returns how many ids may be pushed while `waiting` are queued: none until a quarter of the bound is free,
    /// because selecting a few rows costs as much as selecting many.
    pub fn room(&mut self, waiting: usize) -> usize {
        if self.filled && waiting <= self.length / 8 {
            self.length = (self.length * 2).min(BOUNDS.1);
        } else if waiting > self.length / 2 {
            self.length = (self.length * 7 / 8).max(BOUNDS.0);
        }
        let free = self.length.saturating_sub(waiting);
        if free < self.length / 4 { 0 } else { free }
    }

    /// Records that `pushed` ids were pushed of the `room` there was.
    pub fn pushed(&mut self, pushed: usize, room: usize) {
        self.filled = pushed >= room;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bound after 50 turns in which workers take `taken` ids each while more are due.
    fn after_turns(taken: usize) -> usize {
        let (mut prefetch, mut waiting) = (Prefetch::default(), 0_usize);
        for _ in 0..50 {
            let room = prefetch.room(waiting);
            if room > 0 {
                prefetch.pushed(room, room);
            }
            waiting = (waiting + room).saturating_sub(taken);
        }
        prefetch.length
    }

    #[test]
    fn it_grows_until_workers_no_longer_run_out() {
        assert_eq!(after_turns(10), BOUNDS.0);
        let length = after_turns(200);
        assert!((200..=500).contains(&length), "{length}");
        assert_eq!(after_turns(5_000), BOUNDS.1);
    }

    #[test]
    fn it_shrinks_when_most_of_it_is_left() {
        let mut prefetch = Prefetch { length: 1_024, filled: true };
        for _ in 0..50 {
            let _ = prefetch.room(900);
        }
        assert_eq!(prefetch.length, BOUNDS.0);
    }

    #[test]
    fn a_few_that_are_due_do_not_lengthen_it() {
        let mut prefetch = Prefetch::default();
        for _ in 0..10 {
            let room = prefetch.room(0);
            assert_eq!(room, BOUNDS.0);
            prefetch.pushed(3, room);
        }
    }
}
