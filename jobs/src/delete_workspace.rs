use crate::{Job, JobKind};

/// Go on with the deletion of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeleteWorkspace {
    /// The deletion's row.
    pub deletion_id: i64,
}

impl Job for DeleteWorkspace {
    const KIND: JobKind = JobKind::DeleteWorkspace;

    fn from_id(id: i64) -> Self {
        Self { deletion_id: id }
    }

    fn id(&self) -> i64 {
        self.deletion_id
    }
}
