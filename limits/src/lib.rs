//! Rate limits, counted once for all processes.
//!
//! [`Limits::take`] is for requests that come in: fixed windows, several at once, all or none. It counts in Redis where
//! there is one (`redis.rs`, one script a call), else in a table in memory (`table.rs`). [`Limits::acquire`] is for calls
//! that go out: a call that must wait gets a time of its own, so that it need not ask twice. While Redis cannot be reached each
//! process counts for itself (`fallback.rs`): never without limit, and never with an error.
//!
//! This crate has no HTTP, no database and no numbers: callers decide what is limited, and how far.

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
pub use time::Time;
pub use window::{Count, TakeResult, Window};

/// The counters. Clones are cheap and share everything.
#[derive(Clone)]
pub struct Limits(Arc<Inner>);

struct Inner {
    time: Time,
    store: Store,
    /// The sliding windows of this process: all there are, or those used while Redis is away.
    sliding_windows: SlidingWindows,
}

enum Store {
    Memory(Table),
    Redis(Redis, Fallback),
}

impl Limits {
    /// Creates counters in memory, for one process.
    #[must_use]
    pub fn memory(time: Time) -> Self {
        let store = Store::Memory(Table::default());
        Self(Arc::new(Inner { time, store, sliding_windows: SlidingWindows::default() }))
    }

    /// Creates counters that a fleet shares, in Redis 7 or Valkey, at `redis://`, `rediss://` or `redis+unix://`. Connects when
    /// first used.
    ///
    /// # Errors
    /// [`Error::BadUrl`].
    pub fn redis(url: &str, time: Time) -> Result<Self, Error> {
        let store = Store::Redis(Redis::open(url)?, Fallback::default());
        Ok(Self(Arc::new(Inner { time, store, sliding_windows: SlidingWindows::default() })))
    }

    /// Registers this process as one that counts, and keeps it registered: while Redis is away each process allows its share.
    /// Without this call a process registers when it is first asked.
    pub fn take_part(&self) {
        if let Store::Redis(redis, _) = &self.0.store {
            redis.take_part();
        }
    }

    /// Returns how many processes count, as far as this one knows.
    #[must_use]
    pub fn processes(&self) -> u32 {
        match &self.0.store {
            Store::Memory(_) => 1,
            Store::Redis(redis, _) => redis.peers(),
        }
    }

    /// Takes from every window, or, if one does not hold enough, from none. `owner` is whom they limit; the windows of
    /// one owner lie together.
    pub async fn take(&self, owner: &str, windows: &[Window]) -> TakeResult {
        let keys = keys(owner, windows);
        match &self.0.store {
            Store::Memory(table) => table.take(self.0.time.in_memory(), &keys, windows),
            Store::Redis(redis, fallback) => {
                match redis.take(self.0.time.given(), &keys, windows, 1).await {
                    Some(taken) => {
                        fallback.forget();
                        taken
                    }
                    None => fallback.take(&keys, windows, redis.peers()),
                }
            }
        }
    }

    /// Gives back what was taken for something that did not happen, except what was counted while Redis was away.
    pub async fn give_back(&self, owner: &str, windows: &[Window]) {
        let keys = keys(owner, windows);
        match &self.0.store {
            Store::Memory(table) => table.give_back(self.0.time.in_memory(), &keys, windows),
            Store::Redis(redis, _) => {
                let _ = redis.take(self.0.time.given(), &keys, windows, -1).await;
            }
        }
    }
}

impl Limits {
    /// Decides on all of these calls at once, each against all its subjects or none. The k-th call that must wait reserves the
    /// k-th free time, and asks again at that time under the same id.
    pub async fn acquire<R: Borrow<Request>>(&self, requests: &[R]) -> Vec<Decision> {
        let (inner, now) = (&*self.0, self.0.time.in_memory());
        let Store::Redis(redis, _) = &inner.store else {
            return inner.sliding_windows.ask(now, requests, 1);
        };
        match redis.acquire(inner.time.given(), requests).await {
            Some(decisions) => {
                inner.sliding_windows.forget();
                decisions
            }
            None => inner.sliding_windows.ask(now, requests, redis.peers()),
        }
    }

    /// Releases a call that was allowed and will not be made.
    pub async fn release(&self, request: &Request) {
        let inner = &*self.0;
        if let Store::Redis(redis, _) = &inner.store
            && redis.release(request).await
        {
            return;
        }
        inner.sliding_windows.release(request);
    }

    /// Blocks all calls against this subject for this long, in every process, because the network asked for it.
    pub async fn block(&self, subject: &str, time: Duration) {
        let inner = &*self.0;
        if let Store::Redis(redis, _) = &inner.store
            && redis.block(inner.time.given(), subject, time).await
        {
            return;
        }
        inner.sliding_windows.block(inner.time.in_memory(), subject, time);
    }
}

impl fmt::Debug for Limits {
    /// Without the URL, which may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0.store {
            Store::Memory(_) => "Limits(memory)",
            Store::Redis(..) => "Limits(redis)",
        })
    }
}

/// The braces keep what is counted together on one node of a cluster.
fn keys(owner: &str, windows: &[Window]) -> Vec<String> {
    windows.iter().map(|window| format!("fanfare:{{limits:{owner}}}:{}", window.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_url_is_an_error_that_keeps_its_password() {
        for url in ["", "localhost", "redis://u:s3cret@host:notaport/", "http://u:s3cret@host/"] {
            let error = Limits::redis(url, Time::Store).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("s3cret"));
        }
    }

    #[tokio::test]
    async fn a_tls_url_needs_no_preparation_and_is_not_shown() {
        let limits = Limits::redis("rediss://u:s3cret@127.0.0.1:1/", Time::Store).unwrap();
        assert_eq!(format!("{limits:?}"), "Limits(redis)");
        let window = Window::new("all", 1, std::time::Duration::from_secs(60));
        assert!(limits.take("me", std::slice::from_ref(&window)).await.is_allowed());
        assert!(!limits.take("me", &[window]).await.is_allowed());
    }
}
