use std::{
    sync::{Arc, LazyLock},
    time::Instant,
};

/// The time that windows go by.
#[derive(Clone)]
pub enum Time {
    /// The store's own: Redis's clock, so that processes whose clocks differ agree; in memory this process's.
    Store,
    /// Milliseconds, as this function gives them: for tests that move time by hand.
    Given(Arc<dyn Fn() -> i64 + Send + Sync>),
}

impl Time {
    /// The time, if it is not the store's own.
    pub(crate) fn given(&self) -> Option<i64> {
        match self {
            Self::Store => None,
            Self::Given(now) => Some(now()),
        }
    }

    /// The time for a store in this process.
    pub(crate) fn in_memory(&self) -> i64 {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        self.given().unwrap_or_else(|| i64::try_from(START.elapsed().as_millis()).unwrap_or(0))
    }
}
