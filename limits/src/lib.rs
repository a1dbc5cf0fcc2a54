//! Rate limits that all processes share.
//!
//! [`Limits::take`] is for incoming requests. It checks several fixed windows at once and takes from all or none. It
//! counts in Redis (`redis.rs`, one script for each call) or, without Redis, in memory (`table.rs`).
//! [`Limits::acquire`] is for outgoing calls. A call that must wait reserves a time, so that it needs to ask only once
//! more. While Redis is unreachable, each process counts alone (`fallback.rs`): limits still apply, and no call fails.
//!
//! This crate knows no HTTP, no database and no numbers. The callers decide what is limited and what the limits are.

mod error;
mod fallback;
mod rate_limit;
mod redis;
mod sliding_window;
mod table;
mod time;
mod window;

use std::{borrow::Borrow, fmt, sync::Arc, time::Duration};

use crate::{fallback::Fallback, redis::Redis, sliding_window::SlidingWindows, table::Table};

pub use error::Error;
pub use rate_limit::{Decision, Rate, Request, Subject};
pub use time::TimeSource;
pub use window::{Count, TakeResult, Window};

/// The counters. Clones are cheap and share the same counters.
#[derive(Clone)]
pub struct Limits(Arc<Inner>);

struct Inner {
    time: TimeSource,
    store: Store,
    /// The sliding windows of this process: used always without Redis, else while Redis is unreachable.
    sliding_windows: SlidingWindows,
}

enum Store {
    Memory(Table),
    Redis(Redis, Fallback),
}

impl Limits {
    /// Creates counters in memory for a single process.
    #[must_use]
    pub fn memory(time: TimeSource) -> Self {
        let store = Store::Memory(Table::default());
        Self(Arc::new(Inner { time, store, sliding_windows: SlidingWindows::default() }))
    }

    /// Creates counters that several processes share, in Redis 7 or Valkey, at a `redis://`, `rediss://` or
    /// `redis+unix://` URL. The connection is opened on first use.
    ///
    /// # Errors
    /// [`Error::BadUrl`].
    pub fn redis(url: &str, time: TimeSource) -> Result<Self, Error> {
        let store = Store::Redis(Redis::open(url)?, Fallback::default());
        Ok(Self(Arc::new(Inner { time, store, sliding_windows: SlidingWindows::default() })))
    }

    /// Registers this process and keeps it registered. While Redis is unreachable, each registered process allows its
    /// share of the limits. Without this call, a process registers on first use.
    pub fn register(&self) {
        if let Store::Redis(redis, _) = &self.0.store {
            redis.start_heartbeats();
        }
    }

    /// Returns the number of registered processes that this process knows of.
    #[must_use]
    pub fn processes(&self) -> u32 {
        match &self.0.store {
            Store::Memory(_) => 1,
            Store::Redis(redis, _) => redis.peers(),
        }
    }

    /// Takes from every window, or from none if one of them has too little left. `owner` identifies whom the windows
    /// limit.
    /// All windows of an owner are stored on one Redis node.
    pub async fn take(&self, owner: &str, windows: &[Window]) -> TakeResult {
        let keys = window_keys(owner, windows);
        match &self.0.store {
            Store::Memory(table) => table.take(self.0.time.local_ms(), &keys, windows),
            Store::Redis(redis, fallback) => {
                match redis.take(self.0.time.given_ms(), &keys, windows, 1).await {
                    Some(taken) => {
                        fallback.clear();
                        taken
                    }
                    None => fallback.take(&keys, windows, redis.peers()),
                }
            }
        }
    }

    /// Gives back what was taken for something that did not happen. Amounts that were taken while Redis was unreachable
    /// are
    /// not given back.
    pub async fn refund(&self, owner: &str, windows: &[Window]) {
        let keys = window_keys(owner, windows);
        match &self.0.store {
            Store::Memory(table) => table.refund(self.0.time.local_ms(), &keys, windows),
            Store::Redis(redis, _) => {
                let _ = redis.take(self.0.time.given_ms(), &keys, windows, -1).await;
            }
        }
    }
}

impl Limits {
    /// Decides on all of these calls at once. Each call counts against all its subjects or none. The k-th call that
    /// must
    /// wait reserves the k-th free time, and must ask again at that time with the same id.
    pub async fn acquire<R: Borrow<Request>>(&self, requests: &[R]) -> Vec<Decision> {
        let (inner, now) = (&*self.0, self.0.time.local_ms());
        let Store::Redis(redis, _) = &inner.store else {
            return inner.sliding_windows.acquire(now, requests, 1);
        };
        match redis.acquire(inner.time.given_ms(), requests).await {
            Some(decisions) => {
                inner.sliding_windows.clear();
                decisions
            }
            None => inner.sliding_windows.acquire(now, requests, redis.peers()),
        }
    }

    /// Removes a call from the count that was allowed but will not be made.
    pub async fn release(&self, request: &Request) {
        let inner = &*self.0;
        if let Store::Redis(redis, _) = &inner.store
            && redis.release(request).await
        {
            return;
        }
        inner.sliding_windows.release(request);
    }

    /// Blocks all calls against this subject in every process for this duration, because the platform asked for it.
    pub async fn block(&self, subject: &str, time: Duration) {
        let inner = &*self.0;
        if let Store::Redis(redis, _) = &inner.store
            && redis.block(inner.time.given_ms(), subject, time).await
        {
            return;
        }
        inner.sliding_windows.block(inner.time.local_ms(), subject, time);
    }
}

impl fmt::Debug for Limits {
    /// Omits the URL, which may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0.store {
            Store::Memory(_) => "Limits(memory)",
            Store::Redis(..) => "Limits(redis)",
        })
    }
}

/// Returns the Redis keys of windows. The braces keep all windows of an owner on one cluster node.
fn window_keys(owner: &str, windows: &[Window]) -> Vec<String> {
    windows.iter().map(|window| format!("fanfare:{{limits:{owner}}}:{}", window.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_url_is_an_error_that_keeps_its_password() {
        for url in ["", "localhost", "redis://u:s3cret@host:notaport/", "http://u:s3cret@host/"] {
            let error = Limits::redis(url, TimeSource::Store).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("s3cret"));
        }
    }

    #[tokio::test]
    async fn a_tls_url_needs_no_preparation_and_is_not_shown() {
        let limits = Limits::redis("rediss://u:s3cret@127.0.0.1:1/", TimeSource::Store).unwrap();
        assert_eq!(format!("{limits:?}"), "Limits(redis)");
        let window = Window::new("all", 1, std::time::Duration::from_secs(60));
        assert!(limits.take("me", std::slice::from_ref(&window)).await.is_allowed());
        assert!(!limits.take("me", &[window]).await.is_allowed());
    }
}
