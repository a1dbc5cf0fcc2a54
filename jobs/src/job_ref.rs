use uuid::Uuid;

/// One entry of a queue: the id of a row and its tenant, which only decides its position in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobRef {
    /// The row.
    pub id: i64,
    /// The workspace of the row; nil for rows that belong to no workspace, which count as one tenant.
    pub tenant: Uuid,
}

impl JobRef {
    /// Returns the entry of a workspace's row.
    #[must_use]
    pub const fn of(tenant: Uuid, id: i64) -> Self {
        Self { id, tenant }
    }
}

impl From<i64> for JobRef {
    /// Returns the entry of a row that belongs to no workspace.
    fn from(id: i64) -> Self {
        Self::of(Uuid::nil(), id)
    }
}
