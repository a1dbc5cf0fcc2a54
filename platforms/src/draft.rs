//! The content of a post, as connectors get it.

use std::{fmt, ops::Range, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::TryStreamExt;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::{Error, Result, VideoProperties};

/// The validated content of a post. It does not change while it is being published.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Identifies this content: the same for all attempts, and a new one after a change of content. Idempotency keys,
    /// record keys and slugs are derived from it.
    pub key: Uuid,
    /// The time the post is due; also its public creation time where the network takes one.
    pub due_at: DateTime<Utc>,
    /// Text, may be empty.
    pub caption: String,
    /// One of the descriptor's post types.
    pub post_type: String,
    /// The network's settings, as the caller gave them.
    pub settings: Map<String, Value>,
    /// Raw platform metadata, as the caller gave it (thread segments).
    pub metadata: Map<String, Value>,
    /// Media in order.
    pub media: Vec<Media>,
    /// The files with captions that the settings name, in the order of the settings; empty if they were not looked up. A
    /// file that is not stored here has no media type.
    pub caption_files: Vec<Media>,
}

impl Draft {
    /// Deserializes the settings into the connector's struct.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Rejected`]; does not happen after validation.
    pub fn settings<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_value(Value::Object(self.settings.clone()))
            .map_err(|error| Error::rejected(format!("The settings are not valid: {error}")))
    }

    /// Returns a list of texts in the metadata, for example the segments of a thread; empty if absent.
    #[must_use]
    pub fn metadata_texts(&self, name: &str) -> Vec<String> {
        self.metadata
            .get(name)
            .and_then(Value::as_array)
            .map(|list| list.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect())
            .unwrap_or_default()
    }
}

/// One image, video or other file of a post.
#[derive(Clone, Default)]
pub struct Media {
    /// Public address, for networks that fetch it themselves.
    pub url: String,
    /// Media type, for example `image/png`; empty while it is not known.
    pub mime: String,
    /// File name for networks that show one.
    pub filename: String,
    /// Size in bytes, once known.
    pub bytes: Option<u64>,
    /// Width and height in pixels, once known.
    pub dimensions: Option<(u32, u32)>,
    /// Length of a video in milliseconds, once known.
    pub duration_ms: Option<u64>,
    /// True if parts of an image may be transparent.
    pub alpha: bool,
    /// True for an animated image.
    pub animated: bool,
    /// True if not all software displays it correctly: an image with an orientation tag, colours other than sRGB, or
    /// pixels that are not square.
    pub needs_redraw: bool,
    /// True if an AI model made it.
    pub ai_generated: bool,
    /// The properties of a video, once known.
    pub video: Option<VideoProperties>,
    /// The bytes, for networks that take uploads. `None` while a post is only being validated.
    pub source: Option<Arc<dyn MediaSource>>,
}

impl Media {
    /// Returns true for `image/*`.
    #[must_use]
    pub fn is_image(&self) -> bool {
        self.mime.starts_with("image/")
    }

    /// Returns true for `video/*`.
    #[must_use]
    pub fn is_video(&self) -> bool {
        self.mime.starts_with("video/")
    }

    /// Reads the whole file into memory, at most `max` bytes. Only for files that the network's limit keeps small.
    ///
    /// # Errors
    /// [`crate::ErrorKind::MediaRejected`] when it is larger or gone, transient when the store does not answer.
    pub async fn read(&self, max: u64) -> Result<Bytes> {
        self.source()?.read(max).await
    }

    /// Reads a byte range of the file into memory, such as a chunk of an upload. The range is cut at the end of the
    /// file.
    ///
    /// # Errors
    /// As [`Media::read`]; rejected when the file ends before the range begins.
    pub async fn read_range(&self, range: Range<u64>) -> Result<Bytes> {
        let pieces: Vec<Bytes> =
            self.source()?.open(range).await?.try_collect().await.map_err(|_| {
                Error::transient("The media store did not give the whole of a file.")
            })?;
        Ok(pieces.concat().into())
    }

    /// Returns the size and a stream of the bytes, which keeps only a few pieces in memory.
    ///
    /// # Errors
    /// As [`Media::read`]; a piece that cannot be read ends the stream with its error.
    pub async fn stream(&self, max: u64) -> Result<(u64, MediaStream)> {
        let source = self.source()?;
        let size = source.size().await?;
        if size > max {
            return Err(Error::media_rejected(format!(
                "The media file has {size} bytes; the platform takes {max}."
            )));
        }
        Ok((size, source.open(0..size).await?))
    }

    /// Returns the byte ranges of a chunked upload: `chunk` bytes each, the last one shorter. The connector's state
    /// holds the progress.
    pub fn chunks(size: u64, chunk: u64) -> impl Iterator<Item = Range<u64>> {
        let chunk = chunk.max(1);
        (0..size.div_ceil(chunk)).map(move |place| place * chunk..size.min((place + 1) * chunk))
    }

    fn source(&self) -> Result<&Arc<dyn MediaSource>> {
        self.source
            .as_ref()
            .ok_or_else(|| Error::media_rejected("The media file is no longer stored."))
    }
}

impl fmt::Debug for Media {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Media").field("mime", &self.mime).field("bytes", &self.bytes).finish()
    }
}

/// A stream of bytes from the store, as a request sends it.
pub type MediaStream = fanfare_outbound::FileStream;

/// The source of a [`Media`]'s bytes.
#[async_trait]
pub trait MediaSource: Send + Sync {
    /// Reads the whole file, at most `max` bytes.
    ///
    /// # Errors
    /// As [`Media::read`].
    async fn read(&self, max: u64) -> Result<Bytes>;

    /// Returns the current size in bytes.
    ///
    /// # Errors
    /// As [`Media::read`].
    async fn size(&self) -> Result<u64>;

    /// Returns a byte range as a stream.
    ///
    /// # Errors
    /// As [`Media::read_range`].
    async fn open(&self, range: Range<u64>) -> Result<MediaStream>;
}

#[cfg(test)]
mod tests {
    use super::Media;

    #[test]
    fn chunks_cover_a_file_once() {
        let chunks: Vec<_> = Media::chunks(10, 4).collect();
        assert_eq!(chunks, [0..4, 4..8, 8..10]);
        assert_eq!(Media::chunks(8, 4).count(), 2);
        assert_eq!(Media::chunks(0, 4).count(), 0);
    }
}
