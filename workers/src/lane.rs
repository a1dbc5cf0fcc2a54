//! Two queues before every group of writes.

/// Which queue an item waits in. Each is flushed by itself, so that the one post of a tenant does not go step by step with
/// the hundreds of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lane {
    /// For what a tenant has one of.
    First,
    /// For what a tenant has many of.
    Further,
}

impl Lane {
    /// The lane of something that is, or is not, the first its tenant had lately.
    pub const fn of(first: bool) -> Self {
        if first { Self::First } else { Self::Further }
    }
}
