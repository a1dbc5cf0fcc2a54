//! Runs computations on threads of their own, so that they do not block network tasks.

use std::{io, sync::LazyLock};

use tokio::{
    runtime::{Builder, Runtime},
    task::JoinError,
};

use crate::Flaw;

/// Runs a computation on a blocking thread. If a parser panics on a malicious file, that is reported as a flaw.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Flaw> + Send + 'static,
) -> Result<T, Flaw> {
    caught(tokio::task::spawn_blocking(work).await)
}

/// The threads that work on pixels. An allocator keeps for each thread some of what it has freed, so that many threads
/// would hold many times the memory that is in use.
const PIXEL_THREADS: usize = 2;

static PIXELS: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    Builder::new_current_thread().thread_name("pixels").max_blocking_threads(PIXEL_THREADS).build()
});

/// Runs a computation on pixels, as [`blocking`] does.
pub(crate) async fn on_pixels<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Flaw> + Send + 'static,
) -> Result<T, Flaw> {
    let threads = PIXELS.as_ref().map_err(|error| Flaw::Temporary(error.to_string()))?;
    caught(threads.spawn_blocking(work).await)
}

fn caught<T>(done: Result<Result<T, Flaw>, JoinError>) -> Result<T, Flaw> {
    done.map_err(|_| Flaw::Unreadable("it breaks the reader of its type".to_owned()))?
}
