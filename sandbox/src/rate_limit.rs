//! Fixed-window rate limits of accounts.

use std::collections::BTreeMap;

/// The windows of one account, by name.
#[derive(Debug, Default)]
pub(crate) struct RateLimits(BTreeMap<&'static str, Window>);

#[derive(Debug, Default)]
struct Window {
    started_ms: i64,
    used: u32,
}

/// A limit: a number of units in a number of milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    pub name: &'static str,
    pub units: u32,
    pub span_ms: i64,
}

/// The result of taking units from a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LimitDecision {
    pub allowed: bool,
    pub remaining: u32,
    /// The time at which the window ends, in milliseconds since 1970.
    pub reset_ms: i64,
}

impl RateLimits {
    /// Takes `cost` units from the window of `limit`, if that many are left.
    pub fn take(&mut self, limit: Limit, cost: u32, now_ms: i64) -> LimitDecision {
        let window = self.0.entry(limit.name).or_default();
        if now_ms >= window.started_ms + limit.span_ms {
            *window = Window { started_ms: now_ms, used: 0 };
        }
        let allowed = window.used + cost <= limit.units;
        if allowed {
            window.used += cost;
        }
        LimitDecision {
            allowed,
            remaining: limit.units - window.used,
            reset_ms: window.started_ms + limit.span_ms,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Limit, RateLimits};

    #[test]
    fn a_window_fills_and_starts_again() {
        let limit = Limit { name: "posts", units: 2, span_ms: 100 };
        let mut rate_limits = RateLimits::default();
        assert_eq!(rate_limits.take(limit, 1, 1_000).remaining, 1);
        assert!(rate_limits.take(limit, 1, 1_050).allowed);
        let full = rate_limits.take(limit, 1, 1_099);
        assert!(!full.allowed);
        assert_eq!(full.reset_ms, 1_100);
        assert!(rate_limits.take(limit, 1, 1_100).allowed);
    }
}
