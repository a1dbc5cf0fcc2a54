//! Runs computations on threads of their own, so that they do not block network tasks.

use crate::Flaw;

/// Runs a computation on a blocking thread. If a parser panics on a malicious file, that is reported as a flaw.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Flaw> + Send + 'static,
) -> Result<T, Flaw> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| Flaw::Unreadable("it breaks the reader of its type".to_owned()))?
}
