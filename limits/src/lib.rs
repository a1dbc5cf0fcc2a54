//! How much may be done in a time, counted once for all processes.
//!
//! [`Limits::take`] is for requests that come in: fixed windows, several at once, all or none. It counts in Redis where
//! there is one (`redis.rs`, one script a call), else in a table in memory (`table.rs`). While Redis cannot be reached
//! each process counts for itself (`fallback.rs`): never without limit, and never with an error.
//!
//! What is absent: no HTTP, no database, and no number; what is limited, and how far, is the caller's affair.

mod error;
mod fallback;
mod redis;
mod table;
mod time;
mod window;

use std::{fmt, sync::Arc};

use crate::{fallback::Fallback, redis::Redis, table::Table};

pub use error::Error;
pub use time::Time;
pub use window::{Count, Taken, Window};

/// The counters. Clones are cheap and share everything.
#[derive(Clone)]
pub struct Limits(Arc<Inner>);

struct Inner {
    time: Time,
    store: Store,
}

enum Store {
    Memory(Table),
    Redis(Redis, Fallback),
}

impl Limits {
    /// Counters of one process, which end with it.
    #[must_use]
    pub fn memory(time: Time) -> Self {
        Self(Arc::new(Inner { time, store: Store::Memory(Table::default()) }))
    }

    /// Counters that a fleet shares, in Redis 7 or Valkey, at `redis://`, `rediss://` or `redis+unix://`. Connects when
    /// first used.
    ///
    /// # Errors
    /// [`Error::BadUrl`].
    pub fn redis(url: &str, time: Time) -> Result<Self, Error> {
        let store = Store::Redis(Redis::open(url)?, Fallback::default());
        Ok(Self(Arc::new(Inner { time, store })))
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
