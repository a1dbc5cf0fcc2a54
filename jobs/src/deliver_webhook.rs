use crate::{Job, JobKind};

/// Deliver one event to one webhook endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliverWebhook {
    /// The delivery's row.
    pub delivery_id: i64,
}

impl Job for DeliverWebhook {
    const KIND: JobKind = JobKind::DeliverWebhook;

    fn from_id(id: i64) -> Self {
        Self { delivery_id: id }
    }

    fn id(&self) -> i64 {
        self.delivery_id
    }
}
