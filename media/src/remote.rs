//! Copies a file from an address that a user gave.

use std::time::Duration;

use bytes::Bytes;
use fanfare_outbound::{Client, Download, Error as HttpError, ErrorKind};
use http::header::{CONTENT_ENCODING, ETAG};
use tokio::time::timeout;
use url::Url;

use crate::{HEIC_REMEDY, Intake, IntakeError, Sizes, Store, StoredMedia, filename, refusal};

/// The largest file that is copied, in bytes.
pub const MAX_REMOTE: u64 = 60_000_000;

const MAX_REDIRECTS: u8 = 5;
const NOT_MODIFIED: u16 = 304;

/// The longest `ETag` that is kept, in bytes.
const MAX_ETAG: usize = 256;
const ACCEPT: &str = "image/jpeg, image/png, image/gif, image/webp, video/mp4, video/quicktime, video/webm, */*;q=0.5";

/// The limits of one copy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The largest sizes of files.
    pub sizes: Sizes,
    /// The time from the first connection to the last byte.
    pub whole: Duration,
    /// The longest time without any data.
    pub pause: Duration,
    /// True if files of any type are accepted.
    pub any_type: bool,
}

impl Limits {
    fn of(sizes: Sizes) -> Self {
        let (whole, pause) = (Duration::from_secs(60), Duration::from_secs(20));
        Self { sizes: sizes.at_most(MAX_REMOTE), whole, pause, any_type: false }
    }
}

/// A file that was copied into the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedFile {
    /// The file.
    pub file: StoredMedia,
    /// A readable name from the address, with the extension of the type.
    pub filename: String,
    /// The strong `ETag` that the server sent, with its quotes. It identifies exactly these bytes.
    pub etag: Option<String>,
}

/// The reason that a file was not copied. Each text is a sentence for the user that contains at most the host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CopyError {
    /// The address, or one that it redirects to, is not allowed.
    #[error("{0}")]
    NotAllowed(String),
    /// The address returns no file: no connection, an error status, an incomplete response or a web page.
    #[error("{message}")]
    Unavailable {
        /// A sentence for the user.
        message: String,
        /// True if a later attempt may succeed.
        retryable: bool,
    },
    /// The file is too large.
    #[error("The file is larger than the {limit} bytes that are copied from elsewhere.")]
    TooLarge {
        /// The largest allowed size in bytes.
        limit: u64,
        /// The size of the file in bytes, if the server sent it.
        actual: Option<u64>,
    },
    /// The type of the file is not supported.
    #[error("{message}")]
    UnsupportedType {
        /// A sentence with its type and the supported ones.
        message: String,
    },
    /// The store failed; a later attempt may succeed.
    #[error("{0}")]
    Store(String),
}

/// Copies the file at `url` into the store, under `prefix`. The limits are `sizes` and [`MAX_REMOTE`], five redirects
/// and
/// 60 s. The address of each hop is checked. JPEG, PNG, GIF, WebP, MP4, MOV, WebM and PDF are accepted; the type is
/// detected from the bytes.
///
/// # Errors
/// [`CopyError`]. In this case nothing of the file is left in the store.
pub async fn copy_remote(
    store: &Store,
    http: &Client,
    url: &Url,
    prefix: &str,
    sizes: Sizes,
) -> Result<CopiedFile, CopyError> {
    copy(store, http, url, prefix, Limits::of(sizes)).await
}

/// Copies a file that was sent to a person. It may have any type except a web page and at most `most` bytes. Otherwise
/// like [`copy_remote`].
///
/// # Errors
/// [`CopyError`]. In this case nothing of the file is left in the store.
pub async fn copy_attachment(
    store: &Store,
    http: &Client,
    url: &Url,
    prefix: &str,
    most: u64,
) -> Result<CopiedFile, CopyError> {
    let limits = Limits { any_type: true, ..Limits::of(Sizes::all(most)) };
    copy(store, http, url, prefix, limits).await
}

/// Copies a file like [`copy_remote`]. Returns `None` if the server says that the file with this `ETag` is unchanged.
///
/// # Errors
/// As for [`copy_remote`].
pub async fn copy_if_changed(
    store: &Store,
    http: &Client,
    url: &Url,
    prefix: &str,
    sizes: Sizes,
    etag: &str,
) -> Result<Option<CopiedFile>, CopyError> {
    let limits = Limits::of(sizes);
    match Source::open(http, url, limits, Some(etag)).await? {
        Some(source) => receive_and_store(source, store, url, prefix, limits).await.map(Some),
        None => Ok(None),
    }
}

pub(crate) async fn copy(
    store: &Store,
    http: &Client,
    url: &Url,
    prefix: &str,
    limits: Limits,
) -> Result<CopiedFile, CopyError> {
    let source = Source::open(http, url, limits, None).await?;
    let source = source.ok_or_else(|| refusal::status(NOT_MODIFIED))?;
    receive_and_store(source, store, url, prefix, limits).await
}

async fn receive_and_store(
    mut source: Source,
    store: &Store,
    url: &Url,
    prefix: &str,
    limits: Limits,
) -> Result<CopiedFile, CopyError> {
    let mut intake = Intake::new(store, prefix, limits.sizes);
    if limits.any_type {
        intake = intake.allow_any_type();
    }
    if let Err(error) = receive(&mut source, &mut intake, limits.sizes).await {
        intake.abort().await;
        return Err(error);
    }
    let file = intake.finish().await?;
    Ok(CopiedFile { filename: filename::from_url(url, file.mime), etag: source.etag(), file })
}

async fn receive(source: &mut Source, intake: &mut Intake, sizes: Sizes) -> Result<(), CopyError> {
    let announced = source.download.content_length;
    while let Some(piece) = source.next().await? {
        intake.write(&piece).await.map_err(|refused| with_announced_size(refused, announced))?;
        let limit = intake.mime().map_or(u64::MAX, |mime| sizes.of(mime));
        if announced.is_some_and(|length| length > limit) {
            return Err(CopyError::TooLarge { limit, actual: announced });
        }
    }
    intake.end().await.map_err(|refused| with_announced_size(refused, announced))?;
    Ok(())
}

/// Adds the size that the server sent to the error.
fn with_announced_size(refused: IntakeError, announced: Option<u64>) -> CopyError {
    match refused {
        IntakeError::TooLarge { limit } => CopyError::TooLarge { limit, actual: announced },
        other => other.into(),
    }
}

/// A response whose body is being received.
struct Source {
    download: Download,
    pause: Duration,
}

impl Source {
    /// Requests the file. Returns `None` if the file with this `ETag` is unchanged.
    async fn open(
        http: &Client,
        url: &Url,
        limits: Limits,
        etag: Option<&str>,
    ) -> Result<Option<Self>, CopyError> {
        let mut request = http
            .get(url.clone())
            .header("accept", ACCEPT)
            .header("accept-encoding", "identity")
            .redirects(MAX_REDIRECTS)
            .deadline(limits.whole)
            // The size is checked while receiving, so that the status is reported first and the error has the announced
            // size.
            .max_reply(usize::MAX);
        if let Some(etag) = etag {
            request = request.header("if-none-match", etag);
        }
        let answer = request.open();
        let download = timeout(limits.pause, answer).await.map_err(|_| refusal::no_answer())??;
        if etag.is_some() && download.status == NOT_MODIFIED {
            return Ok(None);
        }
        if download.status != 200 {
            return Err(refusal::status(download.status));
        }
        if download.headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
            return Err(refusal::unavailable(
                "The server sends the file compressed, which was not asked for.",
                false,
            ));
        }
        let largest = limits.sizes.image.max(limits.sizes.video);
        match download.content_length {
            Some(0) => Err(refusal::empty()),
            Some(length) if length > largest => {
                Err(CopyError::TooLarge { limit: largest, actual: Some(length) })
            }
            _ => Ok(Some(Self { download, pause: limits.pause })),
        }
    }

    /// Returns the `ETag` of the file, if it is strong. A weak one may stand for other, equivalent bytes.
    fn etag(&self) -> Option<String> {
        let etag = self.download.headers.get(ETAG)?.to_str().ok()?;
        let is_strong = etag.len() >= 2 && etag.starts_with('"') && etag.ends_with('"');
        (is_strong && etag.len() <= MAX_ETAG).then(|| etag.to_owned())
    }

    async fn next(&mut self) -> Result<Option<Bytes>, CopyError> {
        let next = timeout(self.pause, self.download.chunk()).await;
        Ok(next.map_err(|_| refusal::no_answer())??)
    }
}

impl From<HttpError> for CopyError {
    fn from(error: HttpError) -> Self {
        let message = error.to_string();
        match error.kind {
            ErrorKind::Blocked => Self::NotAllowed(message),
            ErrorKind::NotSent | ErrorKind::Lost => Self::Unavailable { message, retryable: true },
            ErrorKind::Invalid | ErrorKind::TooLarge | ErrorKind::InvalidJson => {
                Self::Unavailable { message, retryable: false }
            }
        }
    }
}

impl From<IntakeError> for CopyError {
    fn from(refused: IntakeError) -> Self {
        match refused {
            IntakeError::Empty => refusal::empty(),
            IntakeError::Page => refusal::page(),
            IntakeError::Heic => {
                Self::UnsupportedType { message: format!("{refused} {HEIC_REMEDY}") }
            }
            IntakeError::Type(what) => {
                Self::UnsupportedType { message: format!("{what} {}", refusal::supported()) }
            }
            IntakeError::TooLarge { limit } => Self::TooLarge { limit, actual: None },
            IntakeError::Store(error) => Self::Store(error.to_string()),
        }
    }
}
