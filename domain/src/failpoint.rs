//! Named places where a test can stop a process, or hold its work up.
//!
//! With `FANFARE_FAILPOINT=<name>` the first piece of work that arrives there goes no further, and the process says so on
//! standard error, so that it can be killed exactly there; with `<name>:<n>` it is the n-th. SIGCONT lets the work go on:
//! a process stopped there by SIGSTOP and continued later is one that was frozen at this place. Without the variable a
//! failpoint is one comparison. A test in the same process may bring a [`Hook`] of its own.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use async_trait::async_trait;
use sea_orm::{ConnAcquireErr, DbErr};

/// The places on a post's way. A test walks this list, so that none is skipped.
pub const PUBLISHING: &[&str] = &[
    "claiming",
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

/// The places on the way of a file that somebody sends; walked by a test of its own.
pub const RECEIVING: &[&str] = &["upload_begun", "upload_stored"];

/// The places on the way of a file that is analysed, and of one that is converted; walked by a test of its own.
pub const ANALYSING: &[&str] =
    &["analysis_claimed", "analysis_done", "conversion_claimed", "conversion_done"];

/// The places on a webhook delivery's way; walked by a test of its own.
pub const DELIVERING: &[&str] = &["delivery_claimed", "delivery_sent"];

/// The places on the way of a request with an `Idempotency-Key`; walked by a test of its own.
pub const ANSWERING: &[&str] = &["key_reserved", "change_committed"];

/// The places on the way of a network's code into an account; walked by a test of its own.
pub const CONNECTING: &[&str] = &["code_taken", "code_exchanged"];

/// The places on the way of a tool's code into tokens; walked by a test of its own.
pub const EXCHANGING: &[&str] =
    &["tool_code_found", "tool_code_spending", "tool_code_spent", "tool_code_answered"];

/// The places on the way of a refresh token into the next pair; walked by a test of its own.
pub const REFRESHING: &[&str] =
    &["refresh_found", "refresh_spending", "refresh_spent", "refresh_answered"];

/// The places on the way of a payment into a subscription; walked by a test of its own.
pub const PAYING: &[&str] =
    &["stripe_call_written", "stripe_call_made", "event_claimed", "event_applied"];

/// The places on the way of a change on a network that is no post; walked by a test of its own.
pub const OUTGOING: &[&str] =
    &["outgoing_prepare_armed", "outgoing_prepare_called", "outgoing_armed", "outgoing_called"];

/// The places on the way of a film; walked by a test of its own.
pub const FILMING: &[&str] = &[
    "video_claimed",
    "video_sending",
    "video_sent",
    "video_step_done",
    "video_found",
    "video_stored",
    "video_settled",
];

/// The places on the way of a letter; walked by a test of its own.
pub const MAILING: &[&str] = &["letter_claimed", "letter_written", "letter_sent"];

/// The places on the way of keeping an account; walked by a test of its own.
pub const KEEPING: &[&str] = &["account_claimed", "tokens_exchanged"];

/// The hook that runs at the named places; without one nothing happens. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Failpoint(Option<Arc<dyn Hook>>);

/// The reaction of a test to a failpoint. Beside the lists above there are places that only a hook in the same process
/// can use: `arming`, before a step is written down; `renewing` and `renewed`, around the renewal of a lease;
/// `unwritten` and `writing`, before and after the wait for a database that is away; `queued` and `dequeued`, before
/// and after the wait for a slot.
#[async_trait]
pub trait Hook: fmt::Debug + Send + Sync {
    /// Work arrived at the place called `name`; it goes on when this returns.
    async fn reach(&self, name: &str);

    /// Is the database lost at this moment of a commit?
    fn cuts(&self, moment: Moment) -> bool {
        let _ = moment;
        false
    }
}

/// The time at which a transaction can lose its database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Nothing was written.
    BeforeCommit,
    /// All was written, and the answer is lost.
    AfterCommit,
}

#[derive(Debug)]
struct Place {
    name: String,
    /// The arrival that is stopped, from 1.
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
        Self(place.map(|place| place as Arc<dyn Hook>))
    }

    /// Does what `hook` wants.
    #[must_use]
    pub fn hooked(hook: Arc<dyn Hook>) -> Self {
        Self(Some(hook))
    }

    /// Goes no further if this is the place.
    pub async fn reach(&self, name: &str) {
        if let Some(hook) = &self.0 {
            hook.reach(name).await;
        }
    }

    /// Fails as a lost connection does, if a test wants it.
    ///
    /// # Errors
    /// The one a lost connection has.
    pub(crate) fn cut(&self, moment: Moment) -> Result<(), DbErr> {
        match &self.0 {
            Some(hook) if hook.cuts(moment) => {
                Err(DbErr::ConnectionAcquire(ConnAcquireErr::ConnectionClosed))
            }
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl Hook for Place {
    async fn reach(&self, name: &str) {
        if self.name != name || self.arrivals.fetch_add(1, Ordering::SeqCst) + 1 != self.nth {
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
