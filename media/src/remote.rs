//! Copying a file from an address that a user gave.

use std::{fmt, time::Duration};

use bytes::Bytes;
use fanfare_outbound::{Client, Download, Error as HttpError, ErrorKind};
use http::header::CONTENT_ENCODING;
use tokio::time::timeout;
use url::Url;

use crate::{
    Error, Store, Writer,
    dimensions::{self, dimensions},
    filename, kind, path, refusal,
};

/// Largest file that is copied, in bytes.
pub const MAX_REMOTE: u64 = 60_000_000;

const REDIRECTS: u8 = 5;
const ACCEPT: &str = "image/jpeg, image/png, image/gif, image/webp, video/mp4, video/quicktime, video/webm, */*;q=0.5";

const LIMITS: Limits =
    Limits { bytes: MAX_REMOTE, whole: Duration::from_secs(60), pause: Duration::from_secs(20) };

/// What one copy may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Largest file in bytes.
    pub bytes: u64,
    /// From the first connection to the last byte.
    pub whole: Duration,
    /// Longest silence.
    pub pause: Duration,
}

/// A file that is now in the store.
#[derive(Clone, PartialEq, Eq)]
pub struct Copied {
    /// Where it is: the prefix, a name nobody can guess, and the type's extension.
    pub path: String,
    /// A name for people, from the address, with the type's extension.
    pub filename: String,
    /// Media type, told by the bytes.
    pub mime: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Width in pixels as shown; of images only.
    pub width: Option<u32>,
    /// Height in pixels as shown; of images only.
    pub height: Option<u32>,
}

/// Why a file was not copied. Each text is a sentence for the user, and names the host at most.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CopyError {
    /// The address, or one that it redirects to, may not be fetched from.
    #[error("{0}")]
    NotAllowed(String),
    /// The address gives no file: no connection, no success, cut short, or a web page.
    #[error("{message}")]
    Unavailable {
        /// What happened.
        message: String,
        /// Whether a later try may go better.
        retryable: bool,
    },
    /// The file is too large.
    #[error("The file is larger than the {limit} bytes that are copied from elsewhere.")]
    TooLarge {
        /// Largest size in bytes.
        limit: u64,
        /// Its own size in bytes, if the server told it.
        actual: Option<u64>,
    },
    /// The file is of a type that is not supported.
    #[error("{message}")]
    UnsupportedType {
        /// What it is, and what is supported.
        message: String,
    },
    /// Our own store failed; a later try may go better.
    #[error("{0}")]
    Store(String),
}

/// Copies the file at `url` into the store, under `prefix`. At most [`MAX_REMOTE`] bytes, five redirects, 60 s; all of
/// the address guard's rules hold for each hop. JPEG, PNG, GIF, WebP, MP4, MOV, WebM and PDF are taken, by their bytes.
///
/// # Errors
/// [`CopyError`]. Nothing of the file is in the store then.
pub async fn copy_remote(
    store: &Store,
    http: &Client,
    url: &Url,
    prefix: &str,
) -> Result<Copied, CopyError> {
    copy(store, http, url, prefix, LIMITS).await
}

pub(crate) async fn copy(
    store: &Store,
    http: &Client,
    url: &Url,
    prefix: &str,
    limits: Limits,
) -> Result<Copied, CopyError> {
    let mut source = Source::open(http, url, limits).await?;
    let mut head = Vec::new();
    while head.len() < kind::SNIFFED
        && let Some(piece) = source.next().await?
    {
        head.extend_from_slice(&piece);
    }
    let mime = kind::sniff(&head).ok_or_else(|| refusal::of(&head))?;
    let path = path::fresh(prefix, kind::extension(mime))?;
    let mut writer = store.writer(&path)?;
    if let Err(error) = pour(&mut source, &mut writer, &mut head, mime).await {
        writer.abort().await;
        return Err(error);
    }
    let bytes = writer.finish().await?;
    let (width, height) = dimensions(&head).unzip();
    Ok(Copied {
        path,
        filename: filename::from_url(url, mime),
        mime: mime.to_owned(),
        bytes,
        width,
        height,
    })
}

/// Writes what was read and the rest. `head` grows until an image's size is in it.
async fn pour(
    source: &mut Source,
    writer: &mut Writer,
    head: &mut Vec<u8>,
    mime: &str,
) -> Result<(), CopyError> {
    writer.write(head).await?;
    let wanted = if mime.starts_with("image/") { dimensions::HEADER } else { 0 };
    while let Some(piece) = source.next().await? {
        writer.write(&piece).await?;
        let more = wanted.saturating_sub(head.len()).min(piece.len());
        head.extend_from_slice(&piece[..more]);
    }
    Ok(())
}

/// The file as it comes in.
struct Source {
    download: Download,
    limits: Limits,
    seen: u64,
}

impl Source {
    async fn open(http: &Client, url: &Url, limits: Limits) -> Result<Self, CopyError> {
        let answer = http
            .get(url.clone())
            .header("accept", ACCEPT)
            .header("accept-encoding", "identity")
            .redirects(REDIRECTS)
            .deadline(limits.whole)
            // Counted here: the status comes first, and the size that the server names is passed on.
            .max_reply(usize::MAX)
            .open();
        let download = timeout(limits.pause, answer).await.map_err(|_| refusal::silent())??;
        if download.status != 200 {
            return Err(refusal::status(download.status));
        }
        if download.headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
            return Err(refusal::unavailable(
                "The server sends the file compressed, which was not asked for.",
                false,
            ));
        }
        match download.content_length {
            Some(0) => Err(refusal::empty()),
            Some(length) if length > limits.bytes => {
                Err(CopyError::TooLarge { limit: limits.bytes, actual: Some(length) })
            }
            _ => Ok(Self { download, limits, seen: 0 }),
        }
    }

    async fn next(&mut self) -> Result<Option<Bytes>, CopyError> {
        let next = timeout(self.limits.pause, self.download.chunk()).await;
        let Some(piece) = next.map_err(|_| refusal::silent())?? else { return Ok(None) };
        self.seen += piece.len() as u64;
        if self.seen > self.limits.bytes {
            return Err(CopyError::TooLarge {
                limit: self.limits.bytes,
                actual: self.download.content_length,
            });
        }
        Ok(Some(piece))
    }
}

impl From<HttpError> for CopyError {
    fn from(error: HttpError) -> Self {
        let message = error.to_string();
        match error.kind {
            ErrorKind::Blocked => Self::NotAllowed(message),
            ErrorKind::NotSent | ErrorKind::Lost => Self::Unavailable { message, retryable: true },
            ErrorKind::Invalid | ErrorKind::TooLarge | ErrorKind::Nonsense => {
                Self::Unavailable { message, retryable: false }
            }
        }
    }
}

impl From<Error> for CopyError {
    fn from(error: Error) -> Self {
        Self::Store(error.to_string())
    }
}

/// The path is not shown: whoever knows it can fetch the file.
impl fmt::Debug for Copied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Copied")
            .field("mime", &self.mime)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}
