use std::sync::Arc;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// How many jobs one worker may run at once. Clones share the slots.
#[derive(Debug, Clone)]
pub struct Slots {
    free: Arc<Semaphore>,
    freed: Arc<Notify>,
    total: usize,
    kept: usize,
}

impl Slots {
    /// `total` free slots, at least one.
    pub fn new(total: usize) -> Self {
        let total = total.clamp(1, Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(total)), freed: Arc::default(), total, kept: 0 }
    }

    /// The same, of which the last `kept` are for those who have next to nothing under way: they find one at once although
    /// a burst takes all others.
    #[must_use]
    pub fn keeping(self, kept: usize) -> Self {
        Self { kept: kept.min(self.total - 1), ..self }
    }

    /// How many slots nothing runs on.
    pub fn free(&self) -> usize {
        self.free.available_permits()
    }

    /// How many slots there are.
    pub fn total(&self) -> usize {
        self.total
    }

    /// How many of them anybody may have.
    pub(crate) fn for_anybody(&self) -> usize {
        self.total - self.kept
    }

    /// How many free slots anybody may have.
    pub(crate) fn open(&self) -> usize {
        self.free().saturating_sub(self.kept)
    }

    /// Waits until a slot is free. It is not taken, so an idle worker shows all of its slots as free.
    pub(crate) async fn one_free(&self) {
        self.some(Self::free).await;
    }

    /// Waits until a slot is free that anybody may have.
    pub(crate) async fn one_open(&self) {
        self.some(Self::open).await;
    }

    async fn some(&self, count: fn(&Self) -> usize) {
        loop {
            // Listened for before looking: a slot freed in between is not missed.
            let freed = self.freed.notified();
            if count(self) > 0 {
                return;
            }
            freed.await;
        }
    }

    /// Takes a slot if one is free.
    pub(crate) fn try_take(&self) -> Option<Slot> {
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
        // First free, then told of.
        self.permit = None;
        self.freed.notify_waiters();
    }
}
