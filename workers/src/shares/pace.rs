//! How quickly slots free, and how long it takes to get ready for one.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

/// For so long what freed is remembered: longer than most networks take, since what was let in together frees together.
const MEMORY: Duration = Duration::from_millis(500);

/// Getting ready counts for no longer: what takes longer waits for something that more company would not make quicker.
const MOST: Duration = Duration::from_millis(50);

/// The pace of one kind of slots.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// From being let in to being ready, of the last few.
    ready_in: Duration,
    /// When slots freed lately, in order.
    freed: VecDeque<Instant>,
}

impl Pace {
    /// Somebody was ready so long after being let in.
    pub fn ready(&mut self, after: Duration) {
        self.ready_in = (self.ready_in * 7 + after.min(MOST)) / 8;
    }

    /// A slot is free.
    pub fn freed(&mut self) {
        if !self.ready_in.is_zero() {
            self.freed.push_back(Instant::now());
        }
    }

    /// Time has passed.
    pub fn pass(&mut self) {
        let now = Instant::now();
        while self.freed.front().is_some_and(|first| now - *first >= MEMORY) {
            self.freed.pop_front();
        }
    }

    /// Twice as many as will free while somebody gets ready, if they go on as they did: posts get ready in groups.
    pub fn ahead(&self) -> usize {
        let (part, whole) = (self.ready_in.as_micros() as usize, MEMORY.as_micros() as usize);
        2 * self.freed.len() * part / whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many are ahead when one slot a millisecond has freed for a while.
    async fn ahead_of(pace: &mut Pace) -> usize {
        for _ in 0..1_000 {
            tokio::time::advance(Duration::from_millis(1)).await;
            pace.pass();
            pace.freed();
        }
        pace.ahead()
    }

    #[tokio::test(start_paused = true)]
    async fn twice_as_many_are_ahead_as_free_while_one_gets_ready() {
        let mut pace = Pace::default();
        assert_eq!(ahead_of(&mut pace).await, 0, "nobody has to get ready");
        (0..100).for_each(|_| pace.ready(Duration::from_millis(10)));
        let ahead = ahead_of(&mut pace).await;
        assert!((19..=20).contains(&ahead), "{ahead}");
        (0..100).for_each(|_| pace.ready(Duration::from_secs(10)));
        let most = ahead_of(&mut pace).await;
        assert!((99..=100).contains(&most), "{most}");
        tokio::time::advance(MEMORY).await;
        pace.pass();
        assert_eq!(pace.ahead(), 0, "what hangs frees none");
    }
}
