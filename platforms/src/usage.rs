//! The used part of a network's call quota, as the network reports it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// The call usage that the network last reported. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct UsageTracker(Arc<Mutex<CallUsage>>);

/// Usage in percent; 0 until the network reports it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallUsage {
    /// Usage of the app's quota.
    pub app: u8,
    /// Usage of the account's own quota.
    pub account: u8,
    /// The time until calls are accepted again, if the network says so.
    pub available_in: Option<Duration>,
}

impl UsageTracker {
    /// Returns the latest reported usage.
    #[must_use]
    pub fn latest(&self) -> CallUsage {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the usage that a response reports.
    pub fn record(&self, used: CallUsage) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = used;
    }
}
