use uuid::Uuid;

/// What is put on a queue: the id of a row, and whose it is, which says only how soon its turn comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ring {
    /// The row.
    pub id: i64,
    /// The workspace whose turn it takes; nil is one of its own, of whatever belongs to no workspace.
    pub tenant: Uuid,
}

impl Ring {
    /// A ring for a row of a workspace.
    #[must_use]
    pub const fn of(tenant: Uuid, id: i64) -> Self {
        Self { id, tenant }
    }
}

impl From<i64> for Ring {
    /// A ring for what belongs to no workspace.
    fn from(id: i64) -> Self {
        Self::of(Uuid::nil(), id)
    }
}
