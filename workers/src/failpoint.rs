//! Named places where a test can stop a worker for good.
//!
//! With `FANFARE_FAILPOINT=<name>` the worker says on standard error that it has arrived there and goes no further, so
//! that it can be killed exactly there; with `<name>:<n>` it stops at its n-th arrival. Without it a failpoint is one
//! comparison.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

/// The places on a post's way. A test walks this list, so that none is skipped.
pub const PUBLISHING: &[&str] = &[
    "claimed",
    "prepare_armed",
    "prepare_called",
    "commit_armed",
    "commit_called",
    "confirm_armed",
    "confirm_called",
    "reconcile_armed",
    "reconcile_called",
    "recorded",
];

/// The places on the way of a remote file into storage; walked by a test of its own.
pub const COPYING: &[&str] = &["copy_claimed", "copy_stored"];

/// The places on a webhook delivery's way; walked by a test of its own.
pub const DELIVERING: &[&str] = &["delivery_claimed", "delivery_sent"];

/// Which failpoint, if any, stops this process.
#[derive(Debug, Clone, Default)]
pub struct Failpoint(Option<Arc<Place>>);

#[derive(Debug)]
struct Place {
    name: String,
    /// Arrivals that are still let pass.
    passes: AtomicU32,
}

impl Failpoint {
    /// Stops at the failpoint of this name, or with `<name>:<n>` when it is reached for the n-th time.
    #[must_use]
    pub fn at(place: Option<&str>) -> Self {
        let place = place.map(|place| {
            let (name, nth) = place.split_once(':').unwrap_or((place, "1"));
            let passes = nth.parse::<u32>().unwrap_or(1).saturating_sub(1);
            Arc::new(Place { name: name.to_owned(), passes: AtomicU32::new(passes) })
        });
        Self(place)
    }

    /// Goes no further if this is the place.
    pub async fn reach(&self, name: &str) {
        let Some(place) = self.0.as_ref().filter(|place| place.name == name) else { return };
        let pass = |left: u32| left.checked_sub(1);
        if place.passes.fetch_update(Ordering::SeqCst, Ordering::SeqCst, pass).is_ok() {
            return;
        }
        tracing::error!(failpoint = name, "stopped at a failpoint");
        std::future::pending::<()>().await;
    }
}
