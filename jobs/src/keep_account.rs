use crate::{Job, JobKind};

/// Keep an account usable: refresh its tokens, warn before they expire, revoke them after a disconnect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeepAccount {
    /// The account.
    pub account_id: i64,
}

impl Job for KeepAccount {
    const KIND: JobKind = JobKind::KeepAccount;

    fn from_id(id: i64) -> Self {
        Self { account_id: id }
    }

    fn id(&self) -> i64 {
        self.account_id
    }
}
