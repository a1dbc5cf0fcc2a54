use crate::{Job, JobKind};

/// Apply an event that a network sent by webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApplyInbound {
    /// The event's row.
    pub event_id: i64,
}

impl Job for ApplyInbound {
    const KIND: JobKind = JobKind::ApplyInbound;

    fn from_id(id: i64) -> Self {
        Self { event_id: id }
    }

    fn id(&self) -> i64 {
        self.event_id
    }
}
