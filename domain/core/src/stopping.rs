//! The end of a process that answers requests: it is said first, and only then the listener closes.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// The two moments at which a process that answers requests stops.
#[derive(Debug, Clone, Default)]
pub struct Stopping {
    /// It has been asked to stop: it is not ready any more, and answers all the same, so that a balancer has time to notice.
    pub begun: CancellationToken,
    /// It takes no new requests; those that wait for something end with what they have.
    pub closed: CancellationToken,
}

impl Stopping {
    /// Begins once `asked` is cancelled, and closes `delay` later.
    pub async fn follow(self, asked: CancellationToken, delay: Duration) {
        asked.cancelled().await;
        self.begun.cancel();
        tokio::time::sleep(delay).await;
        self.closed.cancel();
    }

    /// Waits for so long, or less if this process closes meanwhile.
    pub async fn sleep(&self, time: Duration) {
        let _ = tokio::time::timeout(time, self.closed.cancelled()).await;
    }
}
