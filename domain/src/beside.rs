//! Work that would hold up everybody else on the runtime's threads.

use crate::error::{Error, Result};

/// The most bytes that are parsed, hashed, decoded or written on the threads that answer requests.
const AT_ONCE: usize = 64 << 10;

/// Does work that takes time in proportion to `bytes`: beside the threads that answer requests, if that is long.
///
/// # Errors
/// The work panicked.
pub async fn beside<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    if bytes <= AT_ONCE {
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
        let thread = |bytes| beside(bytes, || std::thread::current().id());
        assert_eq!(thread(AT_ONCE).await.unwrap(), here);
        assert_ne!(thread(AT_ONCE + 1).await.unwrap(), here);
    }
}
