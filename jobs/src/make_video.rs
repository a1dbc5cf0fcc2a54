use crate::{Job, JobKind};

/// Take the next step of a video that a model makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MakeVideo {
    /// The row of the AI job.
    pub job_id: i64,
}

impl Job for MakeVideo {
    const KIND: JobKind = JobKind::MakeVideo;

    fn from_id(id: i64) -> Self {
        Self { job_id: id }
    }

    fn id(&self) -> i64 {
        self.job_id
    }
}
