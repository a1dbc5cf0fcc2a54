use crate::{Job, JobKind};

/// Fetch one media file into our own storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyMedia {
    /// The asset's row.
    pub asset_id: i64,
}

impl Job for CopyMedia {
    const KIND: JobKind = JobKind::CopyMedia;

    fn from_id(id: i64) -> Self {
        Self { asset_id: id }
    }

    fn id(&self) -> i64 {
        self.asset_id
    }
}
