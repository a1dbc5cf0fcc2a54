//! The clock of the service. All processes of a fleet agree on it, and a test can move it.

use std::{
    borrow::Cow,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use chrono::{DateTime, SecondsFormat, Utc};
use fanfare_entities::Millis;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::{Domain, Result};

/// The interval at which the clock is compared with the database's.
const FOLLOW_INTERVAL: Duration = Duration::from_secs(10);

/// The number of measurements at the start: the fastest response is the most accurate one.
const FIRST_MEASUREMENTS: usize = 4;

/// The assumed drift of a machine's clock: one part in this many.
const DRIFT: u32 = 1_000;

/// The value of `lead` before the first measurement.
const NO_LEAD: i64 = i64::MIN;

/// The time that everything in the service goes by. Cheap to clone; clones agree.
#[derive(Debug, Clone)]
pub struct Clock(Arc<Source>);

#[derive(Debug)]
enum Source {
    /// This machine's clock or, in a fleet, the database's. Between two measurements the elapsed time is added, so that
    /// a wrong clock of this machine, or setting it, has no effect.
    Machine {
        begun: Instant,
        /// The database's time at `begun`.
        lead: AtomicI64,
        /// When that was measured, and how long the response took.
        measured: Mutex<Option<(Instant, Duration)>>,
    },
    /// Stands still until it is moved, and wakes those who wait for it.
    Manual {
        now: AtomicI64,
        moved: Notify,
        /// If set, time elapses from here although the clock stands still.
        begun: Option<Instant>,
    },
}

impl Clock {
    /// Returns this machine's clock, until [`Clock::follow`].
    #[must_use]
    pub fn machine() -> Self {
        let (begun, lead) = (Instant::now(), AtomicI64::new(NO_LEAD));
        Self(Arc::new(Source::Machine { begun, lead, measured: Mutex::default() }))
    }

    /// Returns a clock that stands at `now` until [`Clock::advance`]; no time elapses before that.
    #[must_use]
    pub fn manual(now: Millis) -> Self {
        Self::standing(now, None)
    }

    /// Returns a clock that stands at `now` until [`Clock::advance`], while time still elapses for those who wait for
    /// an interval, such as the next attempt after a loss.
    #[must_use]
    pub fn stopped(now: Millis) -> Self {
        Self::standing(now, Some(Instant::now()))
    }

    fn standing(now: Millis, begun: Option<Instant>) -> Self {
        let (now, moved) = (AtomicI64::new(now), Notify::new());
        Self(Arc::new(Source::Manual { now, moved, begun }))
    }

    /// Returns milliseconds since 1970 UTC.
    #[must_use]
    pub fn now(&self) -> Millis {
        match &*self.0 {
            Source::Manual { now, .. } => now.load(Ordering::Relaxed),
            Source::Machine { begun, lead, .. } => match lead.load(Ordering::Relaxed) {
                NO_LEAD => machine_now(),
                lead => lead.saturating_add(millis(begun.elapsed())),
            },
        }
    }

    /// Returns the time as a date.
    #[must_use]
    pub fn date(&self) -> DateTime<Utc> {
        date(self.now())
    }

    /// Moves a clock that stands still; no effect on a machine's.
    pub fn advance(&self, by: Millis) {
        if let Source::Manual { now, moved, .. } = &*self.0 {
            now.fetch_add(by, Ordering::Relaxed);
            moved.notify_waiters();
        }
    }

    /// Returns the time that has elapsed since some moment, in ms. It is for deadlines: it is monotonic, whatever
    /// happens to the clocks of the database and the machine.
    #[must_use]
    pub fn elapsed_ms(&self) -> Millis {
        match &*self.0 {
            Source::Manual { now, begun, .. } => {
                now.load(Ordering::Relaxed) + begun.map_or(0, |begun| millis(begun.elapsed()))
            }
            Source::Machine { begun, .. } => millis(begun.elapsed()),
        }
    }

    /// Waits until this much time has elapsed.
    pub async fn sleep(&self, time: Duration) {
        let Source::Manual { moved, begun, .. } = &*self.0 else {
            return tokio::time::sleep(time).await;
        };
        let until = self.elapsed_ms().saturating_add(millis(time));
        loop {
            let mut told = std::pin::pin!(moved.notified());
            // Registers before it checks the time, so that no move is missed.
            told.as_mut().enable();
            let left = until - self.elapsed_ms();
            if left <= 0 {
                return;
            }
            match begun {
                Some(_) => _ = tokio::time::timeout(duration(left), told).await,
                None => told.await,
            }
        }
    }

    /// Sets the clock to the database's: it returned `database_now`, requested at `asked` and just received. The clock
    /// may be behind by the duration of the request, and is never ahead. A response that took longer than the one that
    /// the clock goes by is ignored. No effect on a manual clock.
    pub fn follow(&self, database_now: Millis, asked: Instant) {
        let Source::Machine { begun, lead, measured } = &*self.0 else { return };
        let took = asked.elapsed();
        let mut measured = measured.lock().unwrap_or_else(PoisonError::into_inner);
        if measured.is_none_or(|(at, known)| took <= known + at.elapsed() / DRIFT) {
            *measured = Some((Instant::now(), took));
            lead.store(database_now - millis(begun.elapsed()), Ordering::Relaxed);
        }
    }
}

/// Measures the database's clock once; on SQLite it is this machine's, and nothing is done.
async fn measure(cx: &Domain) -> Result<()> {
    if !cx.db.is_postgres() {
        return Ok(());
    }
    let asked = Instant::now();
    cx.clock.follow(cx.db.now().await?, asked);
    Ok(())
}

/// Measures the database's clock until that succeeds: nothing may run with a wrong clock.
pub async fn follow_first(cx: &Domain, stop: &CancellationToken) {
    let mut read = 0;
    while read < FIRST_MEASUREMENTS && !stop.is_cancelled() {
        match measure(cx).await {
            Ok(()) => read += 1,
            Err(error) => {
                tracing::warn!(%error, "waiting for the database's clock");
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        }
    }
}

/// Keeps following the database's clock until `stop`.
pub async fn follow(cx: Domain, stop: CancellationToken) {
    while !stop.is_cancelled() {
        if let Err(error) = measure(&cx).await {
            tracing::debug!(%error, "the database's clock could not be read");
        }
        tokio::select! {
            () = tokio::time::sleep(FOLLOW_INTERVAL) => {}
            () = stop.cancelled() => {}
        }
    }
}

fn millis(time: Duration) -> Millis {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

fn duration(time: Millis) -> Duration {
    Duration::from_millis(time.max(0).unsigned_abs())
}

/// Returns the time of this machine's own clock.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the one place that asks the machine for the time")]
pub fn machine_now() -> Millis {
    Utc::now().timestamp_millis()
}

/// Returns milliseconds as a date; times outside chrono's range become its limits.
#[must_use]
pub fn date(millis: Millis) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(millis).unwrap_or(if millis < 0 {
        DateTime::<Utc>::MIN_UTC
    } else {
        DateTime::<Utc>::MAX_UTC
    })
}

/// Parses a time in RFC 3339.
#[must_use]
pub fn from_rfc3339(text: &str) -> Option<Millis> {
    DateTime::parse_from_rfc3339(text).ok().map(|date| date.timestamp_millis())
}

/// Formats a time as replies show it: RFC 3339 in UTC, with `Z` and milliseconds.
#[must_use]
pub fn to_rfc3339(millis: Millis) -> String {
    date(millis).to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// A time in a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time(pub Millis);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&date(self.0).format("%Y-%m-%dT%H:%M:%S%.3fZ"))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        // Unlike RFC 3339 it also takes years of more than four digits, as replies write them.
        let date: DateTime<Utc> = text.parse().map_err(de::Error::custom)?;
        Ok(Self(date.timestamp_millis()))
    }
}

impl JsonSchema for Time {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_follows_goes_by_the_database_however_wrong_the_machine_is() {
        let clock = Clock::machine();
        assert!((clock.now() - machine_now()).abs() < 60_000);
        let tomorrow = machine_now() + 86_400_000;
        clock.follow(tomorrow, Instant::now());
        let read = clock.now();
        assert!((tomorrow..tomorrow + 60_000).contains(&read), "{read}");
    }

    #[tokio::test]
    async fn who_sleeps_by_a_manual_clock_wakes_when_it_is_moved_far_enough() {
        let clock = Clock::manual(1_000);
        let mut asleep = std::pin::pin!(clock.sleep(Duration::from_secs(20)));
        for by in [0, 19_999] {
            clock.advance(by);
            assert!(futures_util::poll!(asleep.as_mut()).is_pending());
        }
        clock.advance(1);
        assert!(futures_util::poll!(asleep.as_mut()).is_ready());
    }

    #[tokio::test]
    async fn time_passes_under_a_stopped_clock() {
        let clock = Clock::stopped(1_000);
        let (begun, time) = (clock.elapsed_ms(), Duration::from_millis(30));
        clock.sleep(time).await;
        assert!(clock.elapsed_ms() - begun >= millis(time));
        assert_eq!(clock.now(), 1_000);
    }

    #[test]
    fn a_time_is_read_as_it_is_written() {
        for (millis, text) in [
            (0, "\"1970-01-01T00:00:00.000Z\""),
            (1_764_374_400_123, "\"2025-11-29T00:00:00.123Z\""),
            (-1, "\"1969-12-31T23:59:59.999Z\""),
        ] {
            assert_eq!(serde_json::to_string(&Time(millis)).unwrap(), text);
            assert_eq!(serde_json::from_str::<Time>(text).unwrap(), Time(millis));
        }
        let ends = [DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC];
        for time in ends.map(|end| Time(end.timestamp_millis())) {
            let text = serde_json::to_string(&time).unwrap();
            assert_eq!(serde_json::from_str::<Time>(&text).unwrap(), time, "{text}");
        }
        let elsewhere = serde_json::from_str::<Time>("\"1970-01-01T01:00:00+01:00\"");
        assert_eq!(elsewhere.unwrap(), Time(0));
        assert!(serde_json::from_str::<Time>("\"yesterday\"").is_err());
    }

    #[test]
    fn the_quickest_answer_counts() {
        let clock = Clock::machine();
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap();
        clock.follow(1_000_000, ago(5));
        assert!((1_000_000..1_060_000).contains(&clock.now()), "the first one, however slow");
        clock.follow(5_000_000, ago(6));
        assert!(clock.now() < 5_000_000, "a slower one says less");
        clock.follow(7_000_000, ago(4));
        assert!(clock.now() >= 7_000_000);
    }
}
