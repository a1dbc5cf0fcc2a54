//! A reading of an account: the calls that it may make, and what turned out on the way.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use crate::{Result, Session};

/// Calls about numbers come after all others: somebody says for each whether it may be made.
#[async_trait]
pub trait Calls: Send + Sync {
    /// Waits for nothing: allows one more call, or says when to come back.
    ///
    /// # Errors
    /// [`crate::Kind::RateLimited`].
    async fn allow(&self) -> Result<()>;
}

/// One reading of an account: its way to the network, and what turned out on the way.
pub struct Reading<'a> {
    /// The account's session.
    pub session: &'a Session,
    calls: &'a dyn Calls,
    /// Numbers, as the network calls them, that are not to be asked for.
    skipped: &'a BTreeSet<String>,
    found: Mutex<Findings>,
}

/// The findings of a reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// Numbers, as the network calls them, that it refuses to tell.
    pub refused: BTreeSet<String>,
    /// Permissions that the account's access lacks.
    pub missing_permissions: BTreeSet<String>,
}

impl<'a> Reading<'a> {
    /// Creates a reading that does not ask for `skipped`.
    pub fn new(session: &'a Session, calls: &'a dyn Calls, skipped: &'a BTreeSet<String>) -> Self {
        Self { session, calls, skipped, found: Mutex::default() }
    }

    /// Allows one call; made before each request.
    ///
    /// # Errors
    /// [`crate::Kind::RateLimited`].
    pub async fn allow(&self) -> Result<()> {
        self.calls.allow().await
    }

    /// Returns true if the network refused this number lately.
    #[must_use]
    pub fn skips(&self, metric: &str) -> bool {
        self.skipped.contains(metric) || self.found().refused.contains(metric)
    }

    /// Notes that the network refuses a number.
    pub fn refuse(&self, metric: &str) {
        self.found().refused.insert(metric.to_owned());
    }

    /// Notes that the account's access lacks a permission.
    pub fn lacks(&self, permission: &str) {
        self.found().missing_permissions.insert(permission.to_owned());
    }

    /// Returns what turned out.
    #[must_use]
    pub fn findings(&self) -> Findings {
        self.found().clone()
    }

    fn found(&self) -> MutexGuard<'_, Findings> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
