//! A stored file as a file of this machine, for readers that need to move about in it.

use std::path::{Path, PathBuf};

use futures_util::StreamExt;
use tempfile::TempPath;
use tokio::io::AsyncWriteExt;

use crate::{Error, Store};

/// A file that can be opened by its path. A copy goes away with the value.
#[derive(Debug)]
pub struct Local {
    path: PathBuf,
    _copy: Option<TempPath>,
}

impl Local {
    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Store {
    /// The file itself if it lies on this machine, else a copy of it in `scratch`, written piece by piece.
    ///
    /// # Errors
    /// As for [`Store::open_read`]; [`Error::Failed`] when the copy cannot be written.
    pub async fn local(&self, path: &str, scratch: &Path) -> Result<Local, Error> {
        if let Some(own) = self.own_path(path)? {
            self.stat(path).await?;
            return Ok(Local { path: own, _copy: None });
        }
        let (file, copy) = fresh(scratch, "copy")?;
        let mut file = tokio::fs::File::from_std(file);
        let mut pieces = self.open_read(path).await?.into_stream();
        while let Some(piece) = pieces.next().await {
            file.write_all(&piece?).await?;
        }
        file.flush().await?;
        Ok(Local { path: copy.to_path_buf(), _copy: Some(copy) })
    }
}

/// An empty file of our own that goes away with its path.
pub(crate) fn fresh(scratch: &Path, extension: &str) -> Result<(std::fs::File, TempPath), Error> {
    std::fs::create_dir_all(scratch)?;
    let made = tempfile::Builder::new()
        .prefix("fanfare-")
        .suffix(&format!(".{extension}"))
        .tempfile_in(scratch)?;
    Ok(made.into_parts())
}
