use crate::{Job, Kind, Taken};

/// Deliver one event to one webhook endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliverWebhook {
    /// The delivery's row.
    pub delivery_id: i64,
    /// Its workspace has had next to nothing lately: it need not go with the groups of those who had.
    pub first: bool,
}

impl Job for DeliverWebhook {
    const KIND: Kind = Kind::DeliverWebhook;

    fn from_id(id: i64) -> Self {
        Self { delivery_id: id, first: false }
    }

    fn of(taken: &Taken) -> Self {
        Self { first: taken.is_first(), ..Self::from_id(taken.id()) }
    }

    fn id(&self) -> i64 {
        self.delivery_id
    }
}
