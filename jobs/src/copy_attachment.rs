use crate::{Job, JobKind};

/// Copy a file that came to an inbox, or remove the copy of one that is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyAttachment {
    /// The row of the file.
    pub file_id: i64,
}

impl Job for CopyAttachment {
    const KIND: JobKind = JobKind::CopyAttachment;

    fn from_id(id: i64) -> Self {
        Self { file_id: id }
    }

    fn id(&self) -> i64 {
        self.file_id
    }
}
