//! How much of a network's call quota is used, as the network reports it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// The call usage that the network last reported. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Usage(Arc<Mutex<Used>>);

/// Usage in percent; 0 until the network reports it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    /// Usage of the app's quota.
    pub app: u8,
    /// Usage of the account's own quota.
    pub account: u8,
    /// How long until calls are accepted again, if the network says so.
    pub regain: Option<Duration>,
}

impl Usage {
    /// Returns the latest reported usage.
    #[must_use]
    pub fn read(&self) -> Used {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the usage that a response reports.
    pub fn note(&self, used: Used) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = used;
    }
}
