use crate::{Job, JobKind};

/// Run one chore: a sync, a refresh, or the deletion of old rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CleanUp {
    /// The chore's row.
    pub chore_id: i64,
}

impl Job for CleanUp {
    const KIND: JobKind = JobKind::CleanUp;

    fn from_id(id: i64) -> Self {
        Self { chore_id: id }
    }

    fn id(&self) -> i64 {
        self.chore_id
    }
}
