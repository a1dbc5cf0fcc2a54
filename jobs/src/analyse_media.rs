use crate::{Job, JobKind};

/// Find out what is in one stored media file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnalyseMedia {
    /// The analysis's row.
    pub analysis_id: i64,
}

impl Job for AnalyseMedia {
    const KIND: JobKind = JobKind::AnalyseMedia;

    fn from_id(id: i64) -> Self {
        Self { analysis_id: id }
    }

    fn id(&self) -> i64 {
        self.analysis_id
    }
}
