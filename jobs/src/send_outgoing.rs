use crate::{Job, JobKind};

/// Make one change on a network: a reply, a hide, a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendOutgoing {
    /// The change's row.
    pub outgoing_id: i64,
}

impl Job for SendOutgoing {
    const KIND: JobKind = JobKind::SendOutgoing;

    fn from_id(id: i64) -> Self {
        Self { outgoing_id: id }
    }

    fn id(&self) -> i64 {
        self.outgoing_id
    }
}
