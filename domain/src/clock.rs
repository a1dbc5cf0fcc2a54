//! Time, from one place, so that a fleet agrees on it and a test can move it.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use chrono::{DateTime, SecondsFormat, Utc};
use fanfare_entities::Millis;

/// The time everything in the service goes by. Cheap to clone; clones agree.
#[derive(Debug, Clone)]
pub struct Clock(Arc<Source>);

#[derive(Debug)]
enum Source {
    /// This machine's clock plus an offset in ms, which a fleet measures against its database.
    Machine(AtomicI64),
    /// Stands still until it is moved.
    Manual(AtomicI64),
}

impl Clock {
    /// Follows this machine's clock.
    #[must_use]
    pub fn machine() -> Self {
        Self(Arc::new(Source::Machine(AtomicI64::new(0))))
    }

    /// Stands at `now` until [`Clock::advance`].
    #[must_use]
    pub fn manual(now: Millis) -> Self {
        Self(Arc::new(Source::Manual(AtomicI64::new(now))))
    }

    /// Milliseconds since 1970 UTC.
    #[must_use]
    pub fn now(&self) -> Millis {
        match &*self.0 {
            Source::Machine(offset) => machine_now() + offset.load(Ordering::Relaxed),
            Source::Manual(now) => now.load(Ordering::Relaxed),
        }
    }

    /// The same as a date.
    #[must_use]
    pub fn date(&self) -> DateTime<Utc> {
        date(self.now())
    }

    /// Moves a manual clock; a machine's clock is moved as a wrong one would be.
    pub fn advance(&self, by: Millis) {
        match &*self.0 {
            Source::Machine(value) | Source::Manual(value) => {
                value.fetch_add(by, Ordering::Relaxed);
            }
        }
    }

    /// Sets the offset so that the clock now reads `database_now`, which was asked for at `asked` and answered at
    /// `answered` (both by this machine's clock). No effect on a manual clock.
    pub fn follow(&self, database_now: Millis, asked: Millis, answered: Millis) {
        if let Source::Machine(offset) = &*self.0 {
            offset.store(database_now - i64::midpoint(asked, answered), Ordering::Relaxed);
        }
    }
}

/// This machine's own clock.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the one place that asks the machine for the time")]
pub fn machine_now() -> Millis {
    Utc::now().timestamp_millis()
}

/// Milliseconds as a date; times outside chrono's range become its end.
#[must_use]
pub fn date(millis: Millis) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(millis).unwrap_or(if millis < 0 {
        DateTime::<Utc>::MIN_UTC
    } else {
        DateTime::<Utc>::MAX_UTC
    })
}

/// A time as replies show it: UTC, `Z`, milliseconds.
#[must_use]
pub fn show(millis: Millis) -> String {
    date(millis).to_rfc3339_opts(SecondsFormat::Millis, true)
}
