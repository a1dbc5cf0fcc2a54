//! The memory for pixels, over all pictures that this process works on at once.

use memmap2::MmapMut;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::Flaw;

/// The memory for the pixels of all pictures at once, in bytes.
pub(crate) const BUDGET: u64 = 48 * 1024 * 1024;

/// The unit in which it is given out, in bytes.
const UNIT: u64 = 1024;

static FREE: Semaphore = Semaphore::const_new((BUDGET / UNIT) as usize);

/// A part of the memory. It is given back when this is dropped.
pub(crate) struct Reserved(#[expect(dead_code, reason = "held")] Option<SemaphorePermit<'static>>);

/// Waits until so many bytes are free, and takes them. More than there are at all count as all.
pub(crate) async fn reserve(bytes: u64) -> Reserved {
    let units = u32::try_from(bytes.min(BUDGET).div_ceil(UNIT)).unwrap_or(u32::MAX);
    // It is never closed.
    Reserved(FREE.acquire_many(units).await.ok())
}

/// The bytes of pixels. They go back to the system at once, which an allocator puts off.
pub(crate) type Pixels = MmapMut;

/// Returns so many zeros.
pub(crate) fn pixels(bytes: u64) -> Result<Pixels, Flaw> {
    let bytes = usize::try_from(bytes).map_err(|_| Flaw::TooCostly)?;
    Ok(MmapMut::map_anon(bytes)?)
}
