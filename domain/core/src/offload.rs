//! Moves long CPU-bound work off the runtime's threads.

use crate::error::{Error, Result};

/// The most bytes that are parsed, hashed, decoded or written on the runtime's own threads.
const MAX_INLINE_BYTES: usize = 64 << 10;

/// Runs work whose duration is proportional to `bytes`: on a blocking thread if there are many, otherwise at once.
///
/// # Errors
/// The work panicked.
pub async fn offload<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    if bytes <= MAX_INLINE_BYTES {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_small_work_is_done_on_the_thread_that_asks() {
        let here = std::thread::current().id();
        let thread = |bytes| offload(bytes, || std::thread::current().id());
        assert_eq!(thread(MAX_INLINE_BYTES).await.unwrap(), here);
        assert_ne!(thread(MAX_INLINE_BYTES + 1).await.unwrap(), here);
    }
}
