//! Temporary disk space for copies of files and for converted files.

use std::{
    fmt, fs,
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use tempfile::TempPath;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Error;

/// The unit of disk space in bytes.
const SPACE_UNIT: u64 = 1024 * 1024;

/// The suffix of the name of a lock file, after the name of the directory that it protects.
const LOCK_SUFFIX: &str = "lock";

/// A directory for temporary files and a limit of the disk space in use. Each process has a subdirectory of its own.
/// Subdirectories of killed processes are removed when the first file is created. Cheap to clone; clones share the
/// space.
#[derive(Clone)]
pub struct Scratch(Arc<Inner>);

struct Inner {
    root: PathBuf,
    pieces: u32,
    room: Arc<Semaphore>,
    own: OnceLock<OwnDirectory>,
}

/// The subdirectory of this process and the lock that it holds on it.
struct OwnDirectory {
    directory: PathBuf,
    lock_path: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Creates a space of `bytes` below `root`. The directory is created on first use.
    #[must_use]
    pub fn new(root: PathBuf, bytes: u64) -> Self {
        let pieces =
            u32::try_from(bytes / SPACE_UNIT).unwrap_or(u32::MAX / 8).clamp(1, u32::MAX / 8);
        let room = Arc::new(Semaphore::new(pieces as usize));
        Self(Arc::new(Inner { root, pieces, room, own: OnceLock::new() }))
    }

    /// Waits in order of arrival until this many bytes may be written. A request for more than the total space waits
    /// for all
    /// of it.
    pub(crate) async fn space(&self, bytes: u64) -> Result<Space, Error> {
        let pieces =
            u32::try_from(bytes.div_ceil(SPACE_UNIT)).unwrap_or(u32::MAX).min(self.0.pieces);
        if self.0.room.available_permits() < pieces as usize {
            tracing::info!(bytes, "a file waits for room in the scratch directory");
        }
        let room = Arc::clone(&self.0.room).acquire_many_owned(pieces).await;
        let room = room.map_err(|_| Error::Failed("there is no scratch directory".to_owned()))?;
        Ok(Space { scratch: self.clone(), _room: room })
    }

    fn directory(&self) -> Result<&Path, Error> {
        if let Some(own) = self.0.own.get() {
            return Ok(&own.directory);
        }
        let made = OwnDirectory::make(&self.0.root)?;
        // Of two who are first the slower one's goes again.
        Ok(&self.0.own.get_or_init(|| made).directory)
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scratch").field(&self.0.root).finish()
    }
}

impl OwnDirectory {
    fn make(root: &Path) -> Result<Self, Error> {
        fs::create_dir_all(root)?;
        sweep(root);
        let name = format!("{:032x}", rand::random::<u128>());
        let (directory, lock_path) = (root.join(&name), root.join(format!("{name}.{LOCK_SUFFIX}")));
        let lock = File::create(&lock_path)?;
        lock.lock()?;
        fs::create_dir(&directory)?;
        Ok(Self { directory, lock_path, _lock: lock })
    }
}

impl Drop for OwnDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
        let _ = fs::remove_file(&self.lock_path);
    }
}

/// Removes directories whose process is gone: nobody holds their locks.
fn sweep(root: &Path) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let lock_path = entry.path();
        if lock_path.extension().is_none_or(|extension| extension != LOCK_SUFFIX) {
            continue;
        }
        let Ok(lock) = File::open(&lock_path) else { continue };
        match lock.try_lock() {
            Ok(()) => {
                let _ = fs::remove_dir_all(lock_path.with_extension(""));
                let _ = fs::remove_file(&lock_path);
                tracing::info!("what a process that died had left of media files was removed");
            }
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
        }
    }
}

/// Room that was given; it is free again with the value.
pub(crate) struct Space {
    scratch: Scratch,
    _room: OwnedSemaphorePermit,
}

impl Space {
    /// An empty file of our own that goes away with its path.
    pub fn fresh(&self, extension: &str) -> Result<(File, TempPath), Error> {
        let made = tempfile::Builder::new()
            .prefix("fanfare-")
            .suffix(&format!(".{extension}"))
            .tempfile_in(self.scratch.directory()?)?;
        Ok(made.into_parts())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Scratch;
    use crate::tests::{Outcome, Room};

    #[tokio::test]
    async fn who_finds_no_room_waits_until_there_is() -> Outcome {
        let room = Room::new();
        let scratch = Scratch::new(room.0.clone(), 10 << 20);
        let half = scratch.space(5 << 20).await?;
        let large = scratch.space(4_000_000_000);
        let mut large = std::pin::pin!(large);
        assert!(futures_util::poll!(large.as_mut()).is_pending(), "it needs all there is");
        let mut small = std::pin::pin!(scratch.space(1));
        assert!(futures_util::poll!(small.as_mut()).is_pending(), "it came later");
        drop(half);
        let large = large.await?;
        assert!(futures_util::poll!(small.as_mut()).is_pending());
        drop(large);
        small.await?;
        Ok(())
    }

    #[tokio::test]
    async fn what_the_dead_have_left_is_removed_and_what_the_living_have_is_not() -> Outcome {
        let room = Room::new();
        let count = || fs::read_dir(&room.0).map_or(0, Iterator::count);
        let living = Scratch::new(room.0.clone(), 10 << 20);
        let space = living.space(1).await?;
        let (_, kept) = space.fresh("copy")?;
        fs::create_dir(room.0.join("dead"))?;
        fs::write(room.0.join("dead/fanfare-x.copy"), b"half a video")?;
        fs::write(room.0.join("dead.lock"), b"")?;
        let other = Scratch::new(room.0.clone(), 10 << 20);
        let (_, own) = other.space(1).await?.fresh("copy")?;
        assert!(kept.exists() && own.exists() && !room.0.join("dead").exists());
        assert_eq!(count(), 4, "two directories and their locks");
        drop((kept, own, other, space, living));
        assert_eq!(count(), 0);
        Ok(())
    }
}
