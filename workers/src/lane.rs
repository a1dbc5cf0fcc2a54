//! Two queues before every group of writes.

/// Which queue an item waits in. Each is flushed by itself, so that the few posts of a tenant do not go step by step with
/// the hundreds of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lane {
    /// For what a tenant has a few of.
    First,
    /// For what a tenant has many of.
    Further,
}

impl Lane {
    /// The lane of something that is, or is not, among the first few its tenant had lately.
    pub const fn of(first: bool) -> Self {
        if first { Self::First } else { Self::Further }
    }
}
