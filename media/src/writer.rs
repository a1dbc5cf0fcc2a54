//! Writes a file to the store.

use std::{fmt, mem};

use object_store::{MultipartUpload, ObjectStoreExt, PutPayloadMut, path::Path};
use tokio::{runtime::Handle, task::JoinSet};

use crate::{Error, Store};

/// Writes one file completely or not at all. It appears under its path when [`Writer::finish`] succeeds. If dropped
/// before, it leaves nothing. Holds at most a few parts in memory (512 KiB for a directory, 10 MiB for a bucket),
/// whatever
/// the size of the file.
///
/// A process that dies leaves an unfinished file that is not visible under any path. In a directory,
/// [`Store::remove_unfinished`] removes it; in a bucket, a lifecycle rule that ends incomplete uploads does.
pub struct Writer {
    store: Store,
    key: Path,
    buffer: PutPayloadMut,
    upload: Option<Box<dyn MultipartUpload>>,
    /// The part that is being sent, while the next one is collected.
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
    /// [`Error::Failed`], [`Error::Denied`]. In this case the file is lost.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = self.store.part() - self.buffer.content_length();
            let (now, later) = rest.split_at(room.min(rest.len()));
            // The bytes are copied, so that a sender of tiny pieces does not cause a buffer for each piece.
            self.buffer.extend_from_slice(now);
            self.written += now.len() as u64;
            rest = later;
            if self.buffer.content_length() == self.store.part() {
                self.send_part().await?;
            }
        }
        Ok(())
    }

    /// Returns the number of bytes written so far.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Completes the file under its path and returns its size in bytes. After that it is on disk or in the bucket.
    ///
    /// # Errors
    /// [`Error::Failed`], [`Error::Denied`]. In this case nothing is left behind.
    pub async fn finish(mut self) -> Result<u64, Error> {
        let closed = self.close().await;
        if closed.is_err() {
            self.discard().await;
        }
        closed.map(|()| self.written)
    }

    /// Aborts the file and returns when nothing of it is left. Dropping does the same in the background.
    pub async fn abort(mut self) {
        self.discard().await;
    }

    async fn close(&mut self) -> Result<(), Error> {
        if self.upload.is_none() {
            // A file of less than one part is sent in one atomic request.
            let whole = mem::take(&mut self.buffer).freeze();
            self.store.objects().put(&self.key, whole).await?;
            return Ok(());
        }
        if !self.buffer.is_empty() {
            self.send_part().await?;
        }
        self.finish_part().await?;
        if let Some(upload) = &mut self.upload {
            upload.complete().await?;
        }
        self.upload = None;
        Ok(())
    }

    /// Sends the collected bytes as one part.
    async fn send_part(&mut self) -> Result<(), Error> {
        if self.upload.is_none() {
            self.upload = Some(self.store.objects().put_multipart(&self.key).await?);
        }
        self.finish_part().await?;
        if let Some(upload) = &mut self.upload {
            let part = mem::take(&mut self.buffer).freeze();
            self.flight.spawn(upload.put_part(part));
        }
        Ok(())
    }

    /// Waits until the part that is being sent is complete.
    async fn finish_part(&mut self) -> Result<(), Error> {
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

/// Aborts an upload. A part that arrives after that would stay forever, so the parts are awaited first.
async fn remove(
    mut upload: Box<dyn MultipartUpload>,
    mut flight: JoinSet<object_store::Result<()>>,
) {
    flight.shutdown().await;
    // A part that cannot be removed belongs to no file and is deleted later.
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
