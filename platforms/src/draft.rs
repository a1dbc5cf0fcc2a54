//! A post as a connector sees it.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::{Error, Result};

/// What is to be published, already validated. Does not change while it is being published.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The key under which this content goes out: the same over all tries, another one after a change of content.
    /// Idempotency keys, record keys and slugs are made from it.
    pub key: Uuid,
    /// The time the post is due; also its public creation time where the network takes one.
    pub at: DateTime<Utc>,
    /// Text, may be empty.
    pub caption: String,
    /// One of the descriptor's post types.
    pub post_type: String,
    /// The network's settings, as given.
    pub settings: Map<String, Value>,
    /// Raw platform metadata, as given (thread segments).
    pub metadata: Map<String, Value>,
    /// Media in order.
    pub media: Vec<Media>,
}

impl Draft {
    /// The settings as the connector's typed struct.
    ///
    /// # Errors
    /// [`crate::Kind::Rejected`]; does not happen after validation.
    pub fn settings<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_value(Value::Object(self.settings.clone()))
            .map_err(|error| Error::rejected(format!("The settings are not valid: {error}")))
    }

    /// A list of texts in the metadata, for example the segments of a thread; empty if absent.
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
#[derive(Clone)]
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
    /// The bytes, for networks that take uploads. `None` while a post is only being validated.
    pub source: Option<Arc<dyn MediaSource>>,
}

impl Media {
    /// True for `image/*`.
    #[must_use]
    pub fn is_image(&self) -> bool {
        self.mime.starts_with("image/")
    }

    /// True for `video/*`.
    #[must_use]
    pub fn is_video(&self) -> bool {
        self.mime.starts_with("video/")
    }

    /// Reads the whole file, at most `max` bytes.
    ///
    /// # Errors
    /// [`crate::Kind::MediaRejected`] when it is larger or gone, transient when the store does not answer.
    pub async fn read(&self, max: u64) -> Result<Bytes> {
        match &self.source {
            Some(source) => source.read(max).await,
            None => Err(Error::media_rejected("The media file is no longer stored.")),
        }
    }
}

impl fmt::Debug for Media {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Media").field("mime", &self.mime).field("bytes", &self.bytes).finish()
    }
}

/// Where the bytes of a [`Media`] come from.
#[async_trait]
pub trait MediaSource: Send + Sync {
    /// Reads the whole file, at most `max` bytes.
    ///
    /// # Errors
    /// As [`Media::read`].
    async fn read(&self, max: u64) -> Result<Bytes>;
}
