use crate::{Job, JobKind};

/// Read the inbox of one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncInbox {
    /// The row of the account's inbox.
    pub sync_id: i64,
}

impl Job for SyncInbox {
    const KIND: JobKind = JobKind::SyncInbox;

    fn from_id(id: i64) -> Self {
        Self { sync_id: id }
    }

    fn id(&self) -> i64 {
        self.sync_id
    }
}
