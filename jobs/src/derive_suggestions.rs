use crate::{Job, JobKind};

/// Suggest posts for an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeriveSuggestions {
    /// The account.
    pub account_id: i64,
}

impl Job for DeriveSuggestions {
    const KIND: JobKind = JobKind::DeriveSuggestions;

    fn from_id(id: i64) -> Self {
        Self { account_id: id }
    }

    fn id(&self) -> i64 {
        self.account_id
    }
}
