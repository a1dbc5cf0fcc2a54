use crate::{Job, JobKind};

/// Read the business profile of one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncBusiness {
    /// The profile's row.
    pub profile_id: i64,
}

impl Job for SyncBusiness {
    const KIND: JobKind = JobKind::SyncBusiness;

    fn from_id(id: i64) -> Self {
        Self { profile_id: id }
    }

    fn id(&self) -> i64 {
        self.profile_id
    }
}
