use std::sync::Arc;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// The slots of one worker, each of which runs one job at a time. Clones share them.
#[derive(Debug, Clone)]
pub struct Concurrency {
    free: Arc<Semaphore>,
    freed: Arc<Notify>,
    total: usize,
}

impl Concurrency {
    /// Creates `total` free slots, at least one.
    pub fn new(total: usize) -> Self {
        let total = total.clamp(1, Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(total)), freed: Arc::default(), total }
    }

    /// Returns the number of free slots.
    pub fn free(&self) -> usize {
        self.free.available_permits()
    }

    /// Returns the number of slots.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Waits until a slot is free. It is not taken, so an idle worker shows all of its slots as free.
    pub(crate) async fn wait_for_slot(&self) {
        loop {
            // Subscribes before it checks, so that a slot freed in between is not missed.
            let freed = self.freed.notified();
            if self.free() > 0 {
                return;
            }
            freed.await;
        }
    }

    /// Takes a slot if one is free.
    pub(crate) fn try_acquire(&self) -> Option<Slot> {
        let permit = Arc::clone(&self.free).try_acquire_owned().ok()?;
        Some(Slot { permit: Some(permit), freed: Arc::clone(&self.freed) })
    }
}

/// A slot that is taken, until it is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    permit: Option<OwnedSemaphorePermit>,
    freed: Arc<Notify>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        // The slot must be free before the waiters are notified.
        self.permit = None;
        self.freed.notify_waiters();
    }
}
