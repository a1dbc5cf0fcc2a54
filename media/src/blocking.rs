//! Computing apart from the threads that wait for the network.

use crate::Flaw;

/// Runs what computes apart from what waits. A parser that panics over a hostile file is a flaw of the file.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Flaw> + Send + 'static,
) -> Result<T, Flaw> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| Flaw::Unreadable("it breaks the reader of its type".to_owned()))?
}
