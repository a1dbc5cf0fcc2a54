//! Making way: while the one post of a tenant is on its way to its network, the groups of tenants who have many wait a
//! moment before they begin the next one, so that the processors and the database are its own.

use std::time::Duration;

use tokio::{sync::watch, time::timeout};

/// The longest a group waits for it: many tenants with one post each must not hold the others up for good.
const MOST: Duration = Duration::from_millis(10);

/// Who is on the way.
#[derive(Debug)]
pub struct Way(watch::Sender<usize>);

impl Default for Way {
    fn default() -> Self {
        Self(watch::channel(0).0)
    }
}

impl Way {
    /// Others make way until the guard is dropped.
    pub fn enter(&self) -> Ahead {
        self.0.send_modify(|ahead| *ahead += 1);
        Ahead(self.0.clone())
    }

    /// Ends when nobody is on the way, or has been for long enough.
    pub async fn make(&self) {
        let mut ahead = self.0.subscribe();
        // Too late is as good as free.
        let _ = timeout(MOST, ahead.wait_for(|ahead| *ahead == 0)).await;
    }
}

/// Somebody on the way.
#[derive(Debug)]
pub struct Ahead(watch::Sender<usize>);

impl Drop for Ahead {
    fn drop(&mut self) {
        self.0.send_modify(|ahead| *ahead -= 1);
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn others_go_when_nobody_is_ahead_and_after_a_while_in_any_case() {
        let (way, begun) = (Way::default(), Instant::now());
        way.make().await;
        assert!(begun.elapsed().is_zero());
        let ahead = way.enter();
        way.make().await;
        assert!(begun.elapsed() >= MOST);
        let since = Instant::now();
        let ((), ()) = tokio::join!(way.make(), async { drop(ahead) });
        assert!(since.elapsed() < MOST);
    }
}
