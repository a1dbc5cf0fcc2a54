//! Named places where a test can stop a worker for good.
//!
//! With `FANFARE_FAILPOINT=<name>` the worker says on standard error that it has arrived there and goes no further, so
//! that it can be killed exactly there. Without it a failpoint is one comparison.

/// Every failpoint there is. A test walks this list, so that none is skipped.
pub const ALL: &[&str] = &[
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

/// Which failpoint, if any, stops this process.
#[derive(Debug, Clone, Default)]
pub struct Failpoint(Option<String>);

impl Failpoint {
    /// Stops at the failpoint of this name.
    #[must_use]
    pub const fn at(name: Option<String>) -> Self {
        Self(name)
    }

    /// Goes no further if this is the place.
    pub async fn reach(&self, name: &str) {
        if self.0.as_deref() != Some(name) {
            return;
        }
        tracing::error!(failpoint = name, "stopped at a failpoint");
        std::future::pending::<()>().await;
    }
}
