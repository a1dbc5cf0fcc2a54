//! How many ids wait in a queue at most.
//!
//! What waits there is read again in every turn of the sweeper, and is lost with the queue. So there is only as much as
//! workers take between two turns, found by trying: more when they ran out of it, less when most of it is still there.

/// Fewest and most ids.
const BOUNDS: (usize, usize) = (64, 1_024);

/// The runway of one kind of work.
#[derive(Debug)]
pub struct Runway {
    length: usize,
    /// The last turn filled it: more was due.
    filled: bool,
}

impl Default for Runway {
    fn default() -> Self {
        Self { length: BOUNDS.0, filled: false }
    }
}

impl Runway {
    /// How many ids may be pushed now that so many wait; none until a quarter is free, because a turn for a few costs
    /// as much as one for many.
    pub fn room(&mut self, waiting: usize) -> usize {
        if self.filled && waiting <= self.length / 8 {
            self.length = (self.length * 2).min(BOUNDS.1);
        } else if waiting > self.length / 2 {
            self.length = (self.length * 7 / 8).max(BOUNDS.0);
        }
        let free = self.length.saturating_sub(waiting);
        if free < self.length / 4 { 0 } else { free }
    }

    /// Notes that `pushed` ids were pushed where there was room for so many.
    pub fn pushed(&mut self, pushed: usize, room: usize) {
        self.filled = pushed >= room;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length after 50 turns in which workers take `taken` ids each, of any number that are due.
    fn after_turns(taken: usize) -> usize {
        let (mut runway, mut waiting) = (Runway::default(), 0_usize);
        for _ in 0..50 {
            let room = runway.room(waiting);
            if room > 0 {
                runway.pushed(room, room);
            }
            waiting = (waiting + room).saturating_sub(taken);
        }
        runway.length
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
        let mut runway = Runway { length: 1_024, filled: true };
        for _ in 0..50 {
            let _ = runway.room(900);
        }
        assert_eq!(runway.length, BOUNDS.0);
    }

    #[test]
    fn a_few_that_are_due_do_not_lengthen_it() {
        let mut runway = Runway::default();
        for _ in 0..10 {
            let room = runway.room(0);
            assert_eq!(room, BOUNDS.0);
            runway.pushed(3, room);
        }
    }
}
