//! A file being written.

use std::{fmt, mem};

use object_store::{MultipartUpload, ObjectStoreExt, PutPayloadMut, path::Path};
use tokio::{runtime::Handle, task::JoinSet};

use crate::{Error, Store};

/// Writes one file, whole or not at all: it appears under its path when [`Writer::finish`] succeeds. Dropped before,
/// it leaves nothing. Holds a few parts in memory at most (512 KiB for a directory, 10 MiB for a bucket), whatever
/// comes in.
///
/// A process that dies leaves what it had written where no path leads: a directory is rid of it by
/// [`Store::remove_unfinished`], a bucket by a lifecycle rule that ends incomplete uploads.
pub struct Writer {
    store: Store,
    key: Path,
    buffer: PutPayloadMut,
    upload: Option<Box<dyn MultipartUpload>>,
    /// The part on its way; the next one is collected meanwhile.
    flight: JoinSet<object_store::Result<()>>,
    written: u64,
}

impl Writer {
    pub(crate) fn new(store: Store, key: Path) -> Self {
        Self {
            store,
            key,
            buffer: PutPayloadMut::new(),
            upload: None,
            flight: JoinSet::new(),
            written: 0,
        }
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// [`Error::Failed`], [`Error::Denied`]. The file is lost then.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = self.store.part() - self.buffer.content_length();
            let (now, later) = rest.split_at(room.min(rest.len()));
            // Copied, so that a sender of tiny pieces cannot make us keep a buffer for each.
            self.buffer.extend_from_slice(now);
            self.written += now.len() as u64;
            rest = later;
            if self.buffer.content_length() == self.store.part() {
                self.send().await?;
            }
        }
        Ok(())
    }

    /// Bytes written so far.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Puts the file in its place and returns its size in bytes. It is on disk, or the bucket's, after that.
    ///
    /// # Errors
    /// [`Error::Failed`], [`Error::Denied`]. Nothing is left behind then.
    pub async fn finish(mut self) -> Result<u64, Error> {
        let closed = self.close().await;
        if closed.is_err() {
            self.discard().await;
        }
        closed.map(|()| self.written)
    }

    /// Gives the file up, and returns when nothing of it is left. Dropping does the same in the background.
    pub async fn abort(mut self) {
        self.discard().await;
    }

    async fn close(&mut self) -> Result<(), Error> {
        if self.upload.is_none() {
            // Less than one part: one request, and as indivisible.
            let whole = mem::take(&mut self.buffer).freeze();
            self.store.objects().put(&self.key, whole).await?;
            return Ok(());
        }
        if !self.buffer.is_empty() {
            self.send().await?;
        }
        self.land().await?;
        if let Some(upload) = &mut self.upload {
            upload.complete().await?;
        }
        self.upload = None;
        Ok(())
    }

    /// Sends what is collected as one part.
    async fn send(&mut self) -> Result<(), Error> {
        if self.upload.is_none() {
            self.upload = Some(self.store.objects().put_multipart(&self.key).await?);
        }
        self.land().await?;
        if let Some(upload) = &mut self.upload {
            let part = mem::take(&mut self.buffer).freeze();
            self.flight.spawn(upload.put_part(part));
        }
        Ok(())
    }

    /// Waits for the part on its way.
    async fn land(&mut self) -> Result<(), Error> {
        while let Some(landed) = self.flight.join_next().await {
            landed.map_err(|_| Error::Failed("a part was not written".to_owned()))??;
        }
        Ok(())
    }

    async fn discard(&mut self) {
        if let Some(upload) = self.upload.take() {
            remove(upload, mem::take(&mut self.flight)).await;
        }
    }
}

/// Ends an upload. A part that lands after that would stay for ever, so the parts end first.
async fn remove(
    mut upload: Box<dyn MultipartUpload>,
    mut flight: JoinSet<object_store::Result<()>>,
) {
    flight.shutdown().await;
    // A piece that cannot be removed is part of no file, and is deleted later.
    if let Err(error) = upload.abort().await {
        tracing::debug!(error = %Error::from(error), "an upload that was given up could not be removed");
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let Some(upload) = self.upload.take() else { return };
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(remove(upload, mem::take(&mut self.flight)));
        }
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("store", &self.store)
            .field("written", &self.written)
            .finish_non_exhaustive()
    }
}
