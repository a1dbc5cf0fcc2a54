use crate::{Job, JobKind};

/// Apply one Stripe event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApplyStripeEvent {
    /// The event's row.
    pub event_id: i64,
}

impl Job for ApplyStripeEvent {
    const KIND: JobKind = JobKind::ApplyStripeEvent;

    fn from_id(id: i64) -> Self {
        Self { event_id: id }
    }

    fn id(&self) -> i64 {
        self.event_id
    }
}
