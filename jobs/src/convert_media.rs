use crate::{Job, JobKind};

/// Make one media file that fits a network out of a stored one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConvertMedia {
    /// The variant's row.
    pub variant_id: i64,
}

impl Job for ConvertMedia {
    const KIND: JobKind = JobKind::ConvertMedia;

    fn from_id(id: i64) -> Self {
        Self { variant_id: id }
    }

    fn id(&self) -> i64 {
        self.variant_id
    }
}
