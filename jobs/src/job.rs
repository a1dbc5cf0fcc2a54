use crate::{Kind, Taken};

/// A payload: which row to look at, and nothing of what stands in it.
///
/// What is done with it lives in the `workers` crate, in the file of the same name.
pub trait Job: Send + 'static {
    /// The kind of work this is; it decides which queue carries the id.
    const KIND: Kind;

    /// The job for the row with this id.
    fn from_id(id: i64) -> Self;

    /// The job for what a worker was given; only kinds whose steps are grouped make use of more than the id.
    fn of(taken: &Taken) -> Self
    where
        Self: Sized,
    {
        Self::from_id(taken.id())
    }

    /// The id of its row.
    fn id(&self) -> i64;
}
