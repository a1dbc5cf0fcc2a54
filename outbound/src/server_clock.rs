//! The clock of a server, as the `Date` of its responses shows it, and whether a cache answered in its place.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use http::{
    HeaderMap,
    header::{AGE, DATE},
};
use tokio::time::Instant;

use crate::retry_after::http_date;

/// Headers in which caches say that they had the answer.
const CACHE_HEADERS: [&str; 6] = [
    "x-cache",
    "x-cache-status",
    "x-proxy-cache",
    "x-litespeed-cache",
    "cf-cache-status",
    "cache-status",
];

/// Words in them of an answer that was stored earlier.
const STORED: [&str; 3] = ["hit", "stale", "updating"];

/// The server's clock, as its responses show it. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct ServerClock(Arc<Mutex<State>>);

#[derive(Debug, Clone, Copy, Default)]
struct State {
    reading: Option<Reading>,
    is_cached: bool,
}

#[derive(Debug, Clone, Copy)]
struct Reading {
    date: DateTime<Utc>,
    read_at: Instant,
}

impl ServerClock {
    /// Records what a response says.
    pub(crate) fn note(&self, headers: &HeaderMap) {
        let age = text(headers, AGE.as_str()).and_then(|age| age.trim().parse().ok());
        let age: u64 = age.unwrap_or(0);
        let is_stored = age > 0 || CACHE_HEADERS.iter().any(|name| says_stored(headers, name));
        self.state().is_cached |= is_stored;
        // Without its age nobody knows when a stored response was made.
        if is_stored && age == 0 {
            return;
        }
        if let Some(date) = text(headers, DATE.as_str()).and_then(http_date) {
            self.read(date + Duration::from_secs(age.min(86_400)));
        }
    }

    /// Sets the server's time, and whether a cache answered.
    pub fn set(&self, date: DateTime<Utc>, is_cached: bool) {
        self.read(date);
        self.state().is_cached = is_cached;
    }

    fn read(&self, date: DateTime<Utc>) {
        self.state().reading = Some(Reading { date, read_at: Instant::now() });
    }

    /// Forgets that caches answered: what follows is another question.
    pub fn begin_question(&self) {
        self.state().is_cached = false;
    }

    /// Returns the server's time now, if a response has shown it. `Date` has whole seconds, so the true time is up to a
    /// second later.
    #[must_use]
    pub fn now(&self) -> Option<DateTime<Utc>> {
        let reading = self.state().reading?;
        Some(reading.date + reading.read_at.elapsed())
    }

    /// Returns true if a response since the question began came from a cache, so that it may show an earlier state.
    #[must_use]
    pub fn is_cached(&self) -> bool {
        self.state().is_cached
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Returns true if a header says that a cache had the answer: `HIT`, `Hit from cloudfront`, `Name; hit; ttl=30`.
fn says_stored(headers: &HeaderMap, name: &str) -> bool {
    let said = text(headers, name).unwrap_or_default().to_ascii_lowercase();
    said.split(|sign: char| !sign.is_ascii_alphanumeric()).any(|word| STORED.contains(&word))
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::ServerClock;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    const DATE: (&str, &str) = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");

    #[test]
    fn the_date_of_a_response_is_its_servers_time() {
        for (pairs, seconds, cached) in [
            (vec![DATE], Some(784_111_777), false),
            (vec![DATE, ("age", "0")], Some(784_111_777), false),
            (vec![DATE, ("age", "90")], Some(784_111_867), true),
            (vec![("age", "90")], None, true),
            (vec![("date", "soon")], None, false),
            (vec![], None, false),
        ] {
            let clock = ServerClock::default();
            clock.note(&headers(&pairs));
            assert_eq!(clock.now().map(|now| now.timestamp()), seconds, "{pairs:?}");
            assert_eq!(clock.is_cached(), cached, "{pairs:?}");
        }
    }

    #[test]
    fn caches_say_in_many_ways_that_they_had_the_answer() {
        for (name, value, cached) in [
            ("x-cache", "HIT", true),
            ("x-cache", "Hit from cloudfront", true),
            ("x-cache", "MISS, HIT", true),
            ("x-cache", "TCP_HIT", true),
            ("x-cache", "MISS", false),
            ("cf-cache-status", "STALE", true),
            ("cf-cache-status", "DYNAMIC", false),
            ("cf-cache-status", "EXPIRED", false),
            ("cache-status", "edge; hit; ttl=30", true),
            ("cache-status", "edge; fwd=uri-miss; stored", false),
            ("x-other", "HIT", false),
        ] {
            let clock = ServerClock::default();
            clock.note(&headers(&[DATE, (name, value)]));
            assert_eq!(clock.is_cached(), cached, "{name}: {value}");
            // The date of a stored answer without an age is that of another time.
            assert_eq!(clock.now().is_none(), cached, "{name}: {value}");
        }
    }

    #[test]
    fn one_cached_answer_of_several_counts_until_the_next_question() {
        let clock = ServerClock::default();
        clock.note(&headers(&[DATE, ("age", "5")]));
        clock.note(&headers(&[DATE]));
        assert!(clock.is_cached());
        clock.begin_question();
        clock.note(&headers(&[DATE]));
        assert!(!clock.is_cached());
    }
}
