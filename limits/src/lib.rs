//! How much may be done in a time, counted once for all processes.
//!
//! [`Limits::take`] is for requests that come in: fixed windows, several at once, all or none. It counts in Redis where
//! there is one (`redis.rs`, one script a call), else in a table in memory (`table.rs`). [`Limits::permits`] is for calls
//! that go out: whoever must wait is told its own time, so nobody comes in vain. While Redis cannot be reached each
//! process counts for itself (`fallback.rs`): never without limit, and never with an error.
//!
//! What is absent: no HTTP, no database, and no number; what is limited, and how far, is the caller's affair.

mod error;
mod fallback;
mod line;
mod permit;
mod redis;
mod table;
mod time;
mod window;

use std::{borrow::Borrow, fmt, sync::Arc, time::Duration};

use crate::{fallback::Fallback, line::Lines, redis::Redis, table::Table};

pub use error::Error;
pub use permit::{Permit, Rate, Request, Subject};
pub use time::Time;
pub use window::{Count, Taken, Window};

/// The counters. Clones are cheap and share everything.
#[derive(Clone)]
pub struct Limits(Arc<Inner>);

struct Inner {
    time: Time,
    store: Store,
    /// The permits of this process: all there are, or those given while Redis is away.
    lines: Lines,
}

enum Store {
    Memory(Table),
    Redis(Redis, Fallback),
}

impl Limits {
    /// Counters of one process, which end with it.
    #[must_use]
    pub fn memory(time: Time) -> Self {
        let store = Store::Memory(Table::default());
        Self(Arc::new(Inner { time, store, lines: Lines::default() }))
    }

    /// Counters that a fleet shares, in Redis 7 or Valkey, at `redis://`, `rediss://` or `redis+unix://`. Connects when
    /// first used.
    ///
    /// # Errors
    /// [`Error::BadUrl`].
    pub fn redis(url: &str, time: Time) -> Result<Self, Error> {
        let store = Store::Redis(Redis::open(url)?, Fallback::default());
        Ok(Self(Arc::new(Inner { time, store, lines: Lines::default() })))
    }

    /// Says that this process counts, and goes on saying so: while Redis is away each lets its share through. Otherwise a
    /// process begins with that when it is first asked.
    pub fn take_part(&self) {
        if let Store::Redis(redis, _) = &self.0.store {
            redis.take_part();
        }
    }

    /// How many processes count, as far as this one knows.
    #[must_use]
    pub fn processes(&self) -> u32 {
        match &self.0.store {
            Store::Memory(_) => 1,
            Store::Redis(redis, _) => redis.peers(),
        }
    }

    /// Takes from every window, or, if one does not hold enough, from none. `owner` is whom they limit; the windows of
    /// one owner lie together.
    pub async fn take(&self, owner: &str, windows: &[Window]) -> Taken {
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

    /// Gives back what was taken for something that did not happen. What was counted while Redis was away is not given
    /// back.
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
    /// Asks for all of these calls at once, each against all its subjects or none. The k-th that must wait is told the
    /// k-th time that is free, and keeps it: it asks again then under the same id.
    pub async fn permits<R: Borrow<Request>>(&self, requests: &[R]) -> Vec<Permit> {
        let (inner, now) = (&*self.0, self.0.time.in_memory());
        let Store::Redis(redis, _) = &inner.store else {
            return inner.lines.ask(now, requests, 1);
        };
        match redis.permits(inner.time.given(), requests).await {
            Some(permits) => {
                inner.lines.forget();
                permits
            }
            None => inner.lines.ask(now, requests, redis.peers()),
        }
    }

    /// Takes back a call that could have been made and will not be.
    pub async fn unmake(&self, request: &Request) {
        let inner = &*self.0;
        if let Store::Redis(redis, _) = &inner.store
            && redis.unmake(request).await
        {
            return;
        }
        inner.lines.unmake(request);
    }

    /// Lets nothing through against this subject for this long, in every process: the other side asked for it.
    pub async fn close(&self, subject: &str, time: Duration) {
        let inner = &*self.0;
        if let Store::Redis(redis, _) = &inner.store
            && redis.close(inner.time.given(), subject, time).await
        {
            return;
        }
        inner.lines.close(inner.time.in_memory(), subject, time);
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
