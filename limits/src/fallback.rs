//! Counting while Redis is unreachable: each process counts alone, up to its share of each limit, starting from zero.
//!
//! `governor` refills evenly and not at the end of a window, so that a long outage does not cause a burst per window.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    middleware::StateInformationMiddleware,
    state::keyed::DashMapStateStore,
};

use crate::{Count, TakeResult, Window};

/// The number of keys of one rate from which fully refilled keys are removed.
const SWEEP_SIZE: usize = 10_000;

type KeyedLimiter =
    RateLimiter<String, DashMapStateStore<String>, DefaultClock, StateInformationMiddleware>;

/// The local counters, with one table for each rate.
#[derive(Default)]
pub(crate) struct Fallback(Mutex<HashMap<(u32, Duration), Arc<KeyedLimiter>>>);

impl Fallback {
    /// Takes from each window, up to the share of this process among `peers`. Narrow windows are checked first, so that
    /// one that refuses leaves the wide windows unchanged.
    pub(crate) fn take(&self, keys: &[String], windows: &[Window], peers: u32) -> TakeResult {
        let mut order: Vec<usize> = (0..windows.len()).collect();
        order.sort_by_key(|place| windows[*place].limit);
        let full = |window: &Window| Count {
            limit: window.limit,
            remaining: window.limit,
            reset_in: window.span,
        };
        let mut counts: Vec<Count> = windows.iter().map(full).collect();
        for place in order {
            let (window, key) = (&windows[place], &keys[place]);
            let Some(cost) = u32::try_from(window.cost).ok().and_then(NonZeroU32::new) else {
                continue;
            };
            let share = local_limit(window.limit, peers);
            let rate = self.limiter(share, window.span);
            match rate.check_key_n(key, cost) {
                Ok(Ok(state)) => {
                    counts[place].remaining = u64::from(state.remaining_burst_capacity());
                }
                Ok(Err(not_yet)) => {
                    counts[place].remaining = 0;
                    counts[place].reset_in = not_yet.wait_time_from(DefaultClock::default().now());
                    return TakeResult { counts, refused_by: Some(place) };
                }
                Err(_) => {
                    counts[place].remaining = u64::from(share.get());
                    return TakeResult { counts, refused_by: Some(place) };
                }
            }
        }
        TakeResult { counts, refused_by: None }
    }

    /// Removes all counters because Redis is back. The next outage starts from zero.
    pub(crate) fn clear(&self) {
        let mut rates = self.lock();
        if !rates.is_empty() {
            rates.clear();
        }
    }

    fn limiter(&self, share: NonZeroU32, span: Duration) -> Arc<KeyedLimiter> {
        let mut rates = self.lock();
        let rate = rates.entry((share.get(), span)).or_insert_with(|| {
            let every = (span / share.get()).max(Duration::from_nanos(1));
            let quota = Quota::with_period(every).unwrap_or(Quota::per_second(NonZeroU32::MIN));
            let limiter = RateLimiter::keyed(quota.allow_burst(share));
            Arc::new(limiter.with_middleware::<StateInformationMiddleware>())
        });
        if rate.len() >= SWEEP_SIZE {
            rate.retain_recent();
        }
        Arc::clone(rate)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(u32, Duration), Arc<KeyedLimiter>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the share of one process in a limit that `peers` processes share.
fn local_limit(limit: u64, peers: u32) -> NonZeroU32 {
    let share = u32::try_from(limit / u64::from(peers.max(1))).unwrap_or(u32::MAX);
    NonZeroU32::new(share).unwrap_or(NonZeroU32::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(limit: u64) -> Window {
        Window::new("all", limit, Duration::from_secs(3_600))
    }

    #[test]
    fn each_process_lets_its_share_through() {
        let fallback = Fallback::default();
        let (key, window) = ([String::from("k")], [window(100)]);
        let through = (0..200).filter(|_| fallback.take(&key, &window, 4).is_allowed()).count();
        assert_eq!(through, 25);
        let refused = fallback.take(&key, &window, 4);
        assert_eq!((refused.refused_by, refused.counts[0].limit), (Some(0), 100));
        assert!(refused.counts[0].reset_in <= Duration::from_secs(144));
        fallback.clear();
        assert!(fallback.take(&key, &window, 4).is_allowed());
    }

    #[test]
    fn a_narrow_window_that_refuses_leaves_the_wide_one_alone() {
        let fallback = Fallback::default();
        let (keys, windows) = ([String::from("wide"), "narrow".into()], [window(10), window(2)]);
        for _ in 0..20 {
            fallback.take(&keys, &windows, 1);
        }
        let wide = fallback.take(&keys[..1], &windows[..1], 1);
        assert_eq!(wide.counts[0].remaining, 7);
    }
}
