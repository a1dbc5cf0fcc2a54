//! The clock of a server, as the `Date` of its responses shows it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use http::{
    HeaderMap,
    header::{AGE, DATE},
};
use tokio::time::Instant;

use crate::retry_after::http_date;

/// What the last response said of its server's clock. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct ServerClock(Arc<Mutex<Option<Reading>>>);

#[derive(Debug, Clone, Copy)]
struct Reading {
    date: DateTime<Utc>,
    read_at: Instant,
    is_cached: bool,
}

impl ServerClock {
    /// Records what a response says.
    pub(crate) fn note(&self, headers: &HeaderMap) {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let Some(date) = text(DATE).and_then(http_date) else { return };
        let age: u64 = text(AGE).and_then(|age| age.trim().parse().ok()).unwrap_or(0);
        self.set(date + Duration::from_secs(age.min(86_400)), age > 0);
    }

    /// Sets the server's time.
    pub fn set(&self, date: DateTime<Utc>, is_cached: bool) {
        let reading = Reading { date, read_at: Instant::now(), is_cached };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(reading);
    }

    /// Returns the server's time now, if a response has shown it. `Date` has whole seconds, so the true time is up to a
    /// second later.
    #[must_use]
    pub fn now(&self) -> Option<DateTime<Utc>> {
        let reading = (*self.0.lock().unwrap_or_else(PoisonError::into_inner))?;
        Some(reading.date + reading.read_at.elapsed())
    }

    /// Returns true if the last response came from a cache (`Age`), so that it may show an earlier state.
    #[must_use]
    pub fn is_cached(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|one| one.is_cached)
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::ServerClock;

    fn noted(pairs: &[(&'static str, &str)]) -> ServerClock {
        let clock = ServerClock::default();
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, HeaderValue::from_str(value).unwrap());
        }
        clock.note(&headers);
        clock
    }

    #[test]
    fn the_date_of_a_response_is_its_servers_time() {
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        for (headers, seconds, cached) in [
            (vec![date], Some(784_111_777), false),
            (vec![date, ("age", "0")], Some(784_111_777), false),
            (vec![date, ("age", "90")], Some(784_111_867), true),
            (vec![("date", "soon")], None, false),
            (vec![], None, false),
        ] {
            let clock = noted(&headers);
            assert_eq!(clock.now().map(|now| now.timestamp()), seconds, "{headers:?}");
            assert_eq!(clock.is_cached(), cached, "{headers:?}");
        }
    }
}
