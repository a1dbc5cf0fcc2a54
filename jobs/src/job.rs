use crate::JobKind;

/// The payload of a job: the id of a row, and nothing of the row's content.
///
/// Its handler is in the `workers` crate, in the file of the same name.
pub trait Job: Send + 'static {
    /// The kind of work, which decides the queue.
    const KIND: JobKind;

    /// Creates the job for the row with this id.
    fn from_id(id: i64) -> Self;

    /// Returns the id of its row.
    fn id(&self) -> i64;
}
