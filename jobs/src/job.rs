use crate::JobKind;

/// A payload: which row to look at, and nothing of what stands in it.
///
/// Its handler is in the `workers` crate, in the file of the same name.
pub trait Job: Send + 'static {
    /// The kind of work this is; it decides which queue carries the id.
    const KIND: JobKind;

    /// The job for the row with this id.
    fn from_id(id: i64) -> Self;

    /// The id of its row.
    fn id(&self) -> i64;
}
