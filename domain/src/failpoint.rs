//! Named places where a test can stop a process.
//!
//! With `FANFARE_FAILPOINT=<name>` the first piece of work that arrives there goes no further, and the process says so on
//! standard error, so that it can be killed exactly there; with `<name>:<n>` it is the n-th. SIGCONT lets the work go on:
//! a process stopped there by SIGSTOP and continued later is one that was frozen at this place. Without the variable a
//! failpoint is one comparison.

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

/// The places on the way of a request with an `Idempotency-Key`; walked by a test of its own.
pub const ANSWERING: &[&str] = &["key_reserved", "change_committed"];

/// Which failpoint, if any, stops this process.
#[derive(Debug, Clone, Default)]
pub struct Failpoint(Option<Arc<Place>>);

#[derive(Debug)]
struct Place {
    name: String,
    /// Which arrival is stopped, from 1.
    nth: u32,
    arrivals: AtomicU32,
}

impl Failpoint {
    /// Stops at the failpoint of this name, or with `<name>:<n>` when it is reached for the n-th time.
    #[must_use]
    pub fn at(place: Option<&str>) -> Self {
        let place = place.map(|place| {
            let (name, nth) = place.split_once(':').unwrap_or((place, "1"));
            let nth = nth.parse().unwrap_or(1);
            Arc::new(Place { name: name.to_owned(), nth, arrivals: AtomicU32::new(0) })
        });
        Self(place)
    }

    /// Goes no further if this is the place.
    pub async fn reach(&self, name: &str) {
        let Some(place) = self.0.as_ref().filter(|place| place.name == name) else { return };
        if place.arrivals.fetch_add(1, Ordering::SeqCst) + 1 != place.nth {
            return;
        }
        let continued = continued();
        tracing::error!(failpoint = name, "stopped at a failpoint");
        continued.await;
    }
}

/// Ends when the process is told to continue; listens from the call on.
#[cfg(unix)]
fn continued() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    /// SIGCONT, which tokio has no name for.
    const CONTINUE: i32 = if cfg!(target_os = "linux") { 18 } else { 19 };
    let signals = signal(SignalKind::from_raw(CONTINUE));
    async move {
        match signals {
            Ok(mut signals) => drop(signals.recv().await),
            Err(_) => std::future::pending().await,
        }
    }
}

#[cfg(not(unix))]
fn continued() -> impl Future<Output = ()> {
    std::future::pending()
}
