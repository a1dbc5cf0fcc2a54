//! Copying a file from an address that a user gave.

use std::time::Duration;

use bytes::Bytes;
use fanfare_outbound::{Client, Download, Error as HttpError, ErrorKind};
use http::header::{CONTENT_ENCODING, ETAG};
use tokio::time::timeout;
use url::Url;

use crate::{HEIC_REMEDY, Intake, Refused, Sizes, Store, Taken, filename, refusal};

/// Largest file that is copied, in bytes.
pub const MAX_REMOTE: u64 = 60_000_000;

const REDIRECTS: u8 = 5;
const NOT_MODIFIED: u16 = 304;

/// Longest `ETag` that is kept, in bytes.
const ETAG_MAX: usize = 256;
const ACCEPT: &str = "image/jpeg, image/png, image/gif, image/webp, video/mp4, video/quicktime, video/webm, */*;q=0.5";

/// The limits of one copy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Largest files.
    pub sizes: Sizes,
    /// From the first connection to the last byte.
    pub whole: Duration,
    /// Longest silence.
    pub pause: Duration,
    /// Files of any type are taken.
    pub any_type: bool,
}

impl Limits {
    fn of(sizes: Sizes) -> Self {
        let (whole, pause) = (Duration::from_secs(60), Duration::from_secs(20));
        Self { sizes: sizes.at_most(MAX_REMOTE), whole, pause, any_type: false }
    }
}

/// A file that is now in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// The file.
    pub file: Taken,
    /// A name for people, from the address, with the type's extension.
    pub filename: String,
    /// The server's name for exactly these bytes (a strong `ETag`), quoted as it was sent.
    pub etag: Option<String>,
}

/// The reason a file was not copied. Each text is a sentence for the user, and names the host at most.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CopyError {
    /// The address, or one that it redirects to, may not be fetched from.
    #[error("{0}")]
    NotAllowed(String),
    /// The address gives no file: no connection, no success, cut short, or a web page.
    #[error("{message}")]
    Unavailable {
        /// A sentence for the user.
        message: String,
        /// True if a later try may go better.
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
        /// A sentence with its type and the supported ones.
        message: String,
    },
    /// Our own store failed; a later try may go better.
    #[error("{0}")]
    Store(String),
}

/// Copies the file at `url` into the store, under `prefix`. At most `sizes` and [`MAX_REMOTE`], five redirects, 60 s;
/// all of the address guard's rules hold for each hop. JPEG, PNG, GIF, WebP, MP4, MOV, WebM and PDF are taken, by their
/// bytes.
///
/// # Errors
/// [`CopyError`]. Nothing of the file is in the store then.
pub async fn copy_remote(
    store: &Store,
    http: &Client,
    url: &Url,
    prefix: &str,
    sizes: Sizes,
) -> Result<Copied, CopyError> {
    copy(store, http, url, prefix, Limits::of(sizes)).await
}

/// Copies a file that was sent to a person, of any type but a web page, and of at most `most` bytes. Otherwise as
/// [`copy_remote`].
///
/// # Errors
/// [`CopyError`]. Nothing of the file is in the store then.
pub async fn copy_attachment(
    store: &Store,
    http: &Client,
    url: &Url,
    prefix: &str,
    most: u64,
) -> Result<Copied, CopyError> {
    let limits = Limits { any_type: true, ..Limits::of(Sizes::all(most)) };
    copy(store, http, url, prefix, limits).await
}

/// Copies a file as [`copy_remote`] does, unless the server says that the file is still the one it gave this `ETag`:
/// then `None`.
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
) -> Result<Option<Copied>, CopyError> {
    let limits = Limits::of(sizes);
    match Source::open(http, url, limits, Some(etag)).await? {
        Some(source) => keep(source, store, url, prefix, limits).await.map(Some),
        None => Ok(None),
    }
}

pub(crate) async fn copy(
    store: &Store,
    http: &Client,
    url: &Url,
    prefix: &str,
    limits: Limits,
) -> Result<Copied, CopyError> {
    let source = Source::open(http, url, limits, None).await?;
    let source = source.ok_or_else(|| refusal::status(NOT_MODIFIED))?;
    keep(source, store, url, prefix, limits).await
}

async fn keep(
    mut source: Source,
    store: &Store,
    url: &Url,
    prefix: &str,
    limits: Limits,
) -> Result<Copied, CopyError> {
    let mut intake = Intake::new(store, prefix, limits.sizes);
    if limits.any_type {
        intake = intake.of_any_type();
    }
    if let Err(error) = pour(&mut source, &mut intake, limits.sizes).await {
        intake.abort().await;
        return Err(error);
    }
    let file = intake.finish().await?;
    Ok(Copied { filename: filename::from_url(url, file.mime), etag: source.etag(), file })
}

async fn pour(source: &mut Source, intake: &mut Intake, sizes: Sizes) -> Result<(), CopyError> {
    let announced = source.download.content_length;
    while let Some(piece) = source.next().await? {
        intake.write(&piece).await.map_err(|refused| sized(refused, announced))?;
        let limit = intake.mime().map_or(u64::MAX, |mime| sizes.of(mime));
        if announced.is_some_and(|length| length > limit) {
            return Err(CopyError::TooLarge { limit, actual: announced });
        }
    }
    intake.end().await.map_err(|refused| sized(refused, announced))?;
    Ok(())
}

/// The refusal, with the size that the server told.
fn sized(refused: Refused, announced: Option<u64>) -> CopyError {
    match refused {
        Refused::TooLarge { limit } => CopyError::TooLarge { limit, actual: announced },
        other => other.into(),
    }
}

/// The file as it comes in.
struct Source {
    download: Download,
    pause: Duration,
}

impl Source {
    /// Asks for the file; `None` if it is still the one with this `ETag`.
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
            .redirects(REDIRECTS)
            .deadline(limits.whole)
            // Counted here: the status comes first, and the size that the server names is passed on.
            .max_reply(usize::MAX);
        if let Some(etag) = etag {
            request = request.header("if-none-match", etag);
        }
        let answer = request.open();
        let download = timeout(limits.pause, answer).await.map_err(|_| refusal::silent())??;
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

    /// The `ETag` of the file, if it stands for exactly these bytes: a weak one may stand for others that mean the
    /// same.
    fn etag(&self) -> Option<String> {
        let etag = self.download.headers.get(ETAG)?.to_str().ok()?;
        let is_strong = etag.len() >= 2 && etag.starts_with('"') && etag.ends_with('"');
        (is_strong && etag.len() <= ETAG_MAX).then(|| etag.to_owned())
    }

    async fn next(&mut self) -> Result<Option<Bytes>, CopyError> {
        let next = timeout(self.pause, self.download.chunk()).await;
        Ok(next.map_err(|_| refusal::silent())??)
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

impl From<Refused> for CopyError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Empty => refusal::empty(),
            Refused::Page => refusal::page(),
            Refused::Heic => Self::UnsupportedType { message: format!("{refused} {HEIC_REMEDY}") },
            Refused::Type(what) => {
                Self::UnsupportedType { message: format!("{what} {}", refusal::supported()) }
            }
            Refused::TooLarge { limit } => Self::TooLarge { limit, actual: None },
            Refused::Store(error) => Self::Store(error.to_string()),
        }
    }
}
