//! The context of reading an account's metrics: the calls it may make, and what was learned.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use crate::{Result, Session};

/// The budget for analytics calls, which have the lowest priority.
#[async_trait]
pub trait CallBudget: Send + Sync {
    /// Allows one more call, or returns at once with the time to try again.
    ///
    /// # Errors
    /// [`crate::ErrorKind::RateLimited`].
    async fn acquire(&self) -> Result<()>;
}

/// The context of reading one account's metrics: its session, its call budget, and what was learned.
pub struct FetchContext<'a> {
    /// The account's session.
    pub session: &'a Session,
    calls: &'a dyn CallBudget,
    /// Metrics, by the network's names, that must not be requested.
    skipped: &'a BTreeSet<String>,
    found: Mutex<Findings>,
}

/// The facts that were learned while reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// Metrics, by the network's names, that it refuses.
    pub refused: BTreeSet<String>,
    /// Permissions that the account's token lacks.
    pub missing_permissions: BTreeSet<String>,
}

impl<'a> FetchContext<'a> {
    /// Creates a context that does not request the metrics in `skipped`.
    pub fn new(
        session: &'a Session,
        calls: &'a dyn CallBudget,
        skipped: &'a BTreeSet<String>,
    ) -> Self {
        Self { session, calls, skipped, found: Mutex::default() }
    }

    /// Takes one call from the budget; called before each request.
    ///
    /// # Errors
    /// [`crate::ErrorKind::RateLimited`].
    pub async fn acquire_call(&self) -> Result<()> {
        self.calls.acquire().await
    }

    /// Returns true if the network refused this metric recently.
    #[must_use]
    pub fn is_skipped(&self, metric: &str) -> bool {
        self.skipped.contains(metric) || self.found().refused.contains(metric)
    }

    /// Records that the network refuses a metric.
    pub fn note_refused(&self, metric: &str) {
        self.found().refused.insert(metric.to_owned());
    }

    /// Records that the account's token lacks a permission.
    pub fn note_missing_permission(&self, permission: &str) {
        self.found().missing_permissions.insert(permission.to_owned());
    }

    /// Returns what was learned.
    #[must_use]
    pub fn findings(&self) -> Findings {
        self.found().clone()
    }

    fn found(&self) -> MutexGuard<'_, Findings> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
