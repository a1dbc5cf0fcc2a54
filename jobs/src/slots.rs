use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many jobs one worker may run at once. Clones share the slots.
#[derive(Debug, Clone)]
pub struct Slots {
    free: Arc<Semaphore>,
    total: usize,
}

impl Slots {
    /// `total` free slots, at least one.
    pub fn new(total: usize) -> Self {
        let total = total.clamp(1, Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(total)), total }
    }

    /// How many slots nothing runs on.
    pub fn free(&self) -> usize {
        self.free.available_permits()
    }

    /// How many slots there are.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Waits until a slot is free. It is not taken, so an idle worker shows all of its slots as free.
    pub(crate) async fn one_free(&self) {
        // The semaphore is never closed, so the only answer is a permit, which goes back at once.
        drop(self.free.acquire().await);
    }

    /// Takes a slot if one is free.
    pub(crate) fn try_take(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.free).try_acquire_owned().ok()
    }
}
