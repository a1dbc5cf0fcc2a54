use std::{
    sync::{Arc, LazyLock},
    time::Instant,
};

/// The source of the time for the windows.
#[derive(Clone)]
pub enum TimeSource {
    /// The clock of the store. With Redis this is the clock of the server, so that processes with different clocks
    /// agree;
    /// in memory it is the clock of this process.
    Store,
    /// A function that returns milliseconds, for tests that control the time.
    Given(Arc<dyn Fn() -> i64 + Send + Sync>),
}

impl TimeSource {
    /// Returns the time in milliseconds, unless the clock of the store is used.
    pub(crate) fn given_ms(&self) -> Option<i64> {
        match self {
            Self::Store => None,
            Self::Given(now) => Some(now()),
        }
    }

    /// Returns the time in milliseconds for counters in this process.
    pub(crate) fn local_ms(&self) -> i64 {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        self.given_ms().unwrap_or_else(|| i64::try_from(START.elapsed().as_millis()).unwrap_or(0))
    }
}
