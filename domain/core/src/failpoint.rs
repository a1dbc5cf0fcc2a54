//! Named places in the code at which a test can stop or delay a process.
//!
//! With `FANFARE_FAILPOINT=<name>` the first piece of work that reaches the place stops there, and the process reports
//! that on standard error, so that a test can kill it exactly there; `<name>:<n>` stops the n-th. SIGCONT lets the work
//! continue: a process that is stopped there by SIGSTOP and continued later acts like a frozen one. Without the
//! variable a failpoint costs one comparison. A test in the same process can install a [`Hook`].

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use async_trait::async_trait;
use sea_orm::{ConnAcquireErr, DbErr};

/// The failpoints of publishing a post. A test walks this list, so that none is skipped.
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

/// The failpoints of copying a remote file into the store; walked by a test of its own.
pub const COPYING: &[&str] = &["copy_claimed", "copy_stored"];

/// The failpoints of receiving an uploaded file; walked by a test of its own.
pub const RECEIVING: &[&str] = &["upload_begun", "upload_stored"];

/// The failpoints of analysing and converting a file; walked by a test of its own.
pub const ANALYSING: &[&str] =
    &["analysis_claimed", "analysis_done", "conversion_claimed", "conversion_done"];

/// The failpoints of delivering a webhook; walked by a test of its own.
pub const DELIVERING: &[&str] = &["delivery_claimed", "delivery_sent"];

/// The failpoints of answering a request with an `Idempotency-Key`; walked by a test of its own.
pub const ANSWERING: &[&str] = &["key_reserved", "change_committed"];

/// The failpoints of exchanging a network's code for an account; walked by a test of its own.
pub const CONNECTING: &[&str] = &["code_taken", "code_exchanged"];

/// The failpoints of exchanging an OAuth client's code for tokens; walked by a test of its own.
pub const EXCHANGING: &[&str] =
    &["tool_code_found", "tool_code_spending", "tool_code_spent", "tool_code_answered"];

/// The failpoints of exchanging a refresh token for the next pair; walked by a test of its own.
pub const REFRESHING: &[&str] =
    &["refresh_found", "refresh_spending", "refresh_spent", "refresh_answered"];

/// The failpoints of turning a payment into a subscription; walked by a test of its own.
pub const PAYING: &[&str] =
    &["stripe_call_written", "stripe_call_made", "event_claimed", "event_applied"];

/// The failpoints of a change on a network other than a post; walked by a test of its own.
pub const OUTGOING: &[&str] =
    &["outgoing_prepare_armed", "outgoing_prepare_called", "outgoing_armed", "outgoing_called"];

/// The failpoints of generating a video; walked by a test of its own.
pub const FILMING: &[&str] = &[
    "video_claimed",
    "video_sending",
    "video_sent",
    "video_step_done",
    "video_found",
    "video_stored",
    "video_settled",
];

/// The failpoints of sending an e-mail; walked by a test of its own.
pub const MAILING: &[&str] = &["letter_claimed", "letter_written", "letter_sent"];

/// The failpoints of an account's upkeep; walked by a test of its own.
pub const UPKEEP: &[&str] = &["account_claimed", "tokens_exchanged"];

/// The failpoints of deleting a workspace; walked by a test of its own.
pub const LEAVING: &[&str] =
    &["deletion_claimed", "deletion_begun", "deletion_revoked", "deletion_piece"];

/// The hook that runs at the failpoints; without a hook nothing happens. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Failpoint(Option<Arc<dyn Hook>>);

/// The action of a test at a failpoint. Beside the lists above there are failpoints that only a hook in the same
/// process
/// can use: `arming`, before a step is recorded; `renewing` and `renewed`, around the renewal of a lease; `unwritten`
/// and `writing`, before and after the wait for a database that is away; `queued` and `dequeued`, before and after the
/// wait for a slot; `considered`, after a change on a network was found possible and before its row is locked;
/// `outgoing_lost`, after the answer to a change was lost, and `outgoing_asking`, before its network is asked about it.
#[async_trait]
pub trait Hook: fmt::Debug + Send + Sync {
    /// Runs when work reaches the failpoint called `name`; the work continues when this returns.
    async fn reach(&self, name: &str);

    /// Returns true if the database connection is lost at this moment of a commit.
    fn loses_database(&self, moment: Moment) -> bool {
        let _ = moment;
        false
    }
}

/// The moment at which a transaction loses its database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Nothing was written.
    BeforeCommit,
    /// Everything was written, but the response is lost.
    AfterCommit,
}

#[derive(Debug)]
struct StopAt {
    name: String,
    /// The number of the arrival that is stopped, from 1.
    nth: u32,
    arrivals: AtomicU32,
}

impl Failpoint {
    /// Stops work at the failpoint of this name, or with `<name>:<n>` when it is reached for the n-th time.
    #[must_use]
    pub fn at(place: Option<&str>) -> Self {
        let place = place.map(|place| {
            let (name, nth) = place.split_once(':').unwrap_or((place, "1"));
            let nth = nth.parse().unwrap_or(1);
            Arc::new(StopAt { name: name.to_owned(), nth, arrivals: AtomicU32::new(0) })
        });
        Self(place.map(|place| place as Arc<dyn Hook>))
    }

    /// Runs `hook` at every failpoint.
    #[must_use]
    pub fn with_hook(hook: Arc<dyn Hook>) -> Self {
        Self(Some(hook))
    }

    /// Runs the hook for this failpoint, which may stop the work.
    pub async fn reach(&self, name: &str) {
        if let Some(hook) = &self.0 {
            hook.reach(name).await;
        }
    }

    /// Fails like a lost connection, if a test wants that.
    ///
    /// # Errors
    /// The error of a lost connection.
    pub(crate) fn lose_database(&self, moment: Moment) -> Result<(), DbErr> {
        match &self.0 {
            Some(hook) if hook.loses_database(moment) => {
                Err(DbErr::ConnectionAcquire(ConnAcquireErr::ConnectionClosed))
            }
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl Hook for StopAt {
    async fn reach(&self, name: &str) {
        if self.name != name || self.arrivals.fetch_add(1, Ordering::SeqCst) + 1 != self.nth {
            return;
        }
        let continued = continued();
        tracing::error!(failpoint = name, "stopped at a failpoint");
        continued.await;
    }
}

/// Waits until the process may continue; listens from the call on.
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
