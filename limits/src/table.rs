//! Fixed windows in memory.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{Count, TakeResult, Window};

/// The number of entries from which the table removes expired ones.
const MIN_SWEEP_SIZE: usize = 1_024;

/// The counters of this process. Expired entries are removed, so the table holds only recent ones.
#[derive(Default)]
pub(crate) struct Table(Mutex<State>);

#[derive(Default)]
struct State {
    windows: HashMap<String, Counter>,
    sweep_at: usize,
}

#[derive(Clone, Copy)]
struct Counter {
    from: i64,
    until: i64,
    used: u64,
}

impl Table {
    pub(crate) fn take(&self, now: i64, keys: &[String], windows: &[Window]) -> TakeResult {
        let mut state = self.lock();
        let held: Vec<Counter> = keys
            .iter()
            .zip(windows)
            .map(|(key, window)| {
                state.current(key, now).unwrap_or_else(|| new_counter(window, now))
            })
            .collect();
        let fits = |(held, window): (&Counter, &Window)| {
            window.cost == 0 || held.used + window.cost <= window.limit
        };
        let allowed = held.iter().zip(windows).all(fits);
        let mut counts = Vec::with_capacity(windows.len());
        for ((key, window), mut held) in keys.iter().zip(windows).zip(held) {
            if allowed && window.cost > 0 {
                held.used += window.cost;
                state.windows.insert(key.clone(), held);
            }
            counts.push(Count {
                limit: window.limit,
                remaining: window.limit.saturating_sub(held.used),
                reset_in: Duration::from_millis((held.until - now).unsigned_abs()),
            });
        }
        state.sweep(now);
        TakeResult::from_counts(windows, counts, allowed)
    }

    pub(crate) fn refund(&self, now: i64, keys: &[String], windows: &[Window]) {
        let mut state = self.lock();
        for (key, window) in keys.iter().zip(windows) {
            if let Some(mut held) = state.current(key, now) {
                held.used = held.used.saturating_sub(window.cost);
                state.windows.insert(key.clone(), held);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn new_counter(window: &Window, now: i64) -> Counter {
    Counter { from: now, until: now.saturating_add(window.span_ms()), used: 0 }
}

impl State {
    fn current(&self, key: &str, now: i64) -> Option<Counter> {
        self.windows.get(key).copied().filter(|held| held.is_current(now))
    }

    /// Removes expired entries, whenever the table has doubled in size since the last time.
    fn sweep(&mut self, now: i64) {
        if self.windows.len() >= self.sweep_at.max(MIN_SWEEP_SIZE) {
            self.windows.retain(|_, held| held.is_current(now));
            self.sweep_at = self.windows.len() * 2;
        }
    }
}

impl Counter {
    /// A clock that goes back a little leaves the window as it is; one that goes back for longer than a window begins it anew.
    fn is_current(self, now: i64) -> bool {
        now < self.until && self.from <= now.saturating_add(self.until - self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_expired_is_dropped() {
        let table = Table::default();
        let window = [Window::new("all", 1, Duration::from_millis(10))];
        for n in 0..100_000 {
            assert!(table.take(n, &[n.to_string()], &window).is_allowed());
        }
        assert!(table.lock().windows.len() <= MIN_SWEEP_SIZE, "{}", table.lock().windows.len());
    }
}
