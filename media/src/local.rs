//! Provides a stored file as a local file, for readers that need random access.

use std::path::{Path, PathBuf};

use futures_util::StreamExt;
use tempfile::TempPath;
use tokio::io::AsyncWriteExt;

use crate::{Error, Store, scratch::Space};

/// A local file that can be opened by its path. A temporary copy is deleted with the value.
#[derive(Debug)]
pub(crate) struct LocalFile {
    path: PathBuf,
    _copy: Option<TempPath>,
}

impl LocalFile {
    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl LocalFile {
    /// Creates a temporary file with these bytes.
    pub async fn from_bytes(bytes: &[u8], space: &Space) -> Result<Self, Error> {
        let (file, copy) = space.fresh("copy")?;
        let mut file = tokio::fs::File::from_std(file);
        file.write_all(bytes).await?;
        file.flush().await?;
        Ok(Self { path: copy.to_path_buf(), _copy: Some(copy) })
    }
}

impl Store {
    /// Returns the disk space that [`Store::local`] needs for a file of this size.
    pub(crate) fn local_space(&self, bytes: u64) -> u64 {
        if self.is_on_this_machine() { 0 } else { bytes }
    }

    /// Returns the stored file itself if it is on this machine, else a temporary copy.
    ///
    /// # Errors
    /// As for [`Store::open_read`]; [`Error::Failed`] when the copy cannot be written.
    pub(crate) async fn local(&self, path: &str, space: &Space) -> Result<LocalFile, Error> {
        if let Some(own) = self.own_path(path)? {
            self.stat(path).await?;
            return Ok(LocalFile { path: own, _copy: None });
        }
        let (file, copy) = space.fresh("copy")?;
        let mut file = tokio::fs::File::from_std(file);
        let mut pieces = self.open_read(path).await?.into_stream();
        while let Some(piece) = pieces.next().await {
            file.write_all(&piece?).await?;
        }
        file.flush().await?;
        Ok(LocalFile { path: copy.to_path_buf(), _copy: Some(copy) })
    }
}
