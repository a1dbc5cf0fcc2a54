//! The used share of a network's calls, as the network tells it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// The shares that a session's network last showed. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Usage(Arc<Mutex<Used>>);

/// Shares in percent; 0 as long as none was shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    /// The used share of the app's calls.
    pub app: u8,
    /// The used share of the account's own calls.
    pub account: u8,
    /// The time until calls are taken again, if the network says so.
    pub regain: Option<Duration>,
}

impl Usage {
    /// Returns what was shown last.
    #[must_use]
    pub fn read(&self) -> Used {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what a reply shows.
    pub fn note(&self, used: Used) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = used;
    }
}
