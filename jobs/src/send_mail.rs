use crate::{Job, JobKind};

/// Send one letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendMail {
    /// The letter's row.
    pub letter_id: i64,
}

impl Job for SendMail {
    const KIND: JobKind = JobKind::SendMail;

    fn from_id(id: i64) -> Self {
        Self { letter_id: id }
    }

    fn id(&self) -> i64 {
        self.letter_id
    }
}
