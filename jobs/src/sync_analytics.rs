use crate::{Job, JobKind};

/// Read the analytics of an account and its posts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncAnalytics {
    /// The account.
    pub account_id: i64,
}

impl Job for SyncAnalytics {
    const KIND: JobKind = JobKind::SyncAnalytics;

    fn from_id(id: i64) -> Self {
        Self { account_id: id }
    }

    fn id(&self) -> i64 {
        self.account_id
    }
}
