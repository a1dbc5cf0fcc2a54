//! Receives a file: detects its type, counts and hashes its bytes, and writes it to the store as it arrives.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::{
    Error, Store, Writer,
    dimensions::{self, dimensions},
    kind, path, refusal,
    scrub::Scrub,
    utf8::Utf8,
};

/// The largest file with captions, in bytes.
const CAPTIONS_MAX: u64 = 1 << 20;

/// The largest sizes of files in bytes, by type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// The largest size of images and documents.
    pub image: u64,
    /// The largest size of videos.
    pub video: u64,
}

impl Sizes {
    /// Returns the same limit for all types.
    #[must_use]
    pub const fn all(bytes: u64) -> Self {
        Self { image: bytes, video: bytes }
    }

    /// Returns the limit for a file of this type.
    #[must_use]
    pub fn of(self, mime: &str) -> u64 {
        match mime {
            kind::VTT => self.image.min(CAPTIONS_MAX),
            _ if mime.starts_with("video/") => self.video,
            _ => self.image,
        }
    }

    /// Returns these limits, none of them larger than `bytes`.
    #[must_use]
    pub fn at_most(self, bytes: u64) -> Self {
        Self { image: self.image.min(bytes), video: self.video.min(bytes) }
    }
}

/// A complete file in the store.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredMedia {
    /// The path: the prefix, an unguessable name and the extension of the type.
    pub path: String,
    /// The media type, detected from the bytes.
    pub mime: &'static str,
    /// Size in bytes.
    pub bytes: u64,
    /// The SHA-256 hash of the stored bytes, in hex.
    pub digest: String,
    /// The displayed width in pixels, for images only.
    pub width: Option<u32>,
    /// The displayed height in pixels, for images only.
    pub height: Option<u32>,
}

/// The instructions for a user who sent an HEIC photo.
pub const HEIC_REMEDY: &str = "Save it as JPEG and send that: on an iPhone, Settings, Camera, Formats, Most Compatible \
                               makes new photos JPEG.";

/// The reason that a file was not accepted. Each text is a sentence for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IntakeError {
    /// The file has no bytes.
    #[error("The file is empty.")]
    Empty,
    /// The file is a web page, which a wrong address or a login page returns.
    #[error("The file is a web page.")]
    Page,
    /// The file is an HEIC photo, which no platform accepts; see [`HEIC_REMEDY`].
    #[error("The file is an HEIC photo, which networks do not take.")]
    Heic,
    /// The type of the file is not supported. Contains a description of the type.
    #[error("{0}")]
    Type(String),
    /// The file is too large.
    #[error("The file is larger than the {limit} bytes that are taken here.")]
    TooLarge {
        /// Largest size in bytes.
        limit: u64,
    },
    /// The store failed; a later attempt may succeed.
    #[error(transparent)]
    Store(#[from] Error),
}

/// Receives one file, completely or not at all, in constant memory: a few parts of the file and the first 512 KiB of an
/// image. If dropped before [`Intake::finish`], nothing is left in the store. Location metadata of images is blanked
/// and never stored.
pub struct Intake {
    store: Store,
    prefix: String,
    sizes: Sizes,
    any_type: bool,
    head: Vec<u8>,
    hash: Sha256,
    seen: u64,
    begun: Option<OpenFile>,
}

/// A file whose type and name are known and that is being written.
struct OpenFile {
    writer: Writer,
    path: String,
    mime: &'static str,
    scrub: Scrub,
    /// A buffer for the scrubbed bytes of the current piece.
    scrubbed: Vec<u8>,
    /// Checks captions, which are text.
    text: Option<Utf8>,
}

impl Intake {
    /// Creates an intake for a file that is stored under `prefix`.
    #[must_use]
    pub fn new(store: &Store, prefix: &str, sizes: Sizes) -> Self {
        Self {
            store: store.clone(),
            prefix: prefix.to_owned(),
            sizes,
            any_type: false,
            head: Vec::new(),
            hash: Sha256::new(),
            seen: 0,
            begun: None,
        }
    }

    /// Accepts any type except web pages, for files that are only viewed and never sent to a platform.
    #[must_use]
    pub fn allow_any_type(mut self) -> Self {
        self.any_type = true;
        self
    }

    /// Receives the next bytes. The type is checked after the first 4 KiB, the size with each call.
    ///
    /// # Errors
    /// [`IntakeError`]. The file is lost then.
    pub async fn write(&mut self, piece: &[u8]) -> Result<(), IntakeError> {
        self.seen += piece.len() as u64;
        if let Some(begun) = &mut self.begun {
            let limit = self.sizes.of(begun.mime);
            if self.seen > limit {
                return Err(IntakeError::TooLarge { limit });
            }
            begun.text.iter_mut().try_for_each(|text| text.push(piece))?;
            begun.scrubbed.clear();
            begun.scrub.push(piece, &mut begun.scrubbed);
            self.hash.update(&begun.scrubbed);
            begun.writer.write(&begun.scrubbed).await?;
            let wanted =
                if begun.mime.starts_with("image/") { dimensions::HEADER_BYTES } else { 0 };
            let more = wanted.saturating_sub(self.head.len()).min(piece.len());
            self.head.extend_from_slice(&piece[..more]);
            return Ok(());
        }
        self.head.extend_from_slice(piece);
        if self.head.len() >= kind::SNIFF_BYTES { self.begin().await } else { Ok(()) }
    }

    /// Returns the type of the file, once enough bytes have arrived.
    #[must_use]
    pub fn mime(&self) -> Option<&'static str> {
        self.begun.as_ref().map(|begun| begun.mime)
    }

    /// Returns the number of bytes received.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Ends the file and detects its type, if not done yet. [`Intake::finish`] calls this unless it was called before.
    ///
    /// # Errors
    /// [`IntakeError`].
    pub async fn end(&mut self) -> Result<&'static str, IntakeError> {
        if self.begun.is_none() {
            self.begin().await?;
        }
        self.mime().ok_or(IntakeError::Empty)
    }

    /// Completes the file under its path. After that it is on disk or in the bucket.
    ///
    /// # Errors
    /// [`IntakeError`]. Nothing is left behind then.
    pub async fn finish(mut self) -> Result<StoredMedia, IntakeError> {
        self.end().await?;
        let Some(begun) = self.begun else { return Err(IntakeError::Empty) };
        let OpenFile { mut writer, path, mime, scrub, text, .. } = begun;
        if let Some(text) = text
            && let Err(refused) = text.end()
        {
            writer.abort().await;
            return Err(refused);
        }
        let rest = scrub.end();
        self.hash.update(&rest);
        writer.write(&rest).await?;
        let bytes = writer.finish().await?;
        let (width, height) = dimensions(&self.head).unzip();
        let digest = self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(StoredMedia { path, mime, bytes, digest, width, height })
    }

    /// Aborts the file and returns when nothing of it is left. Dropping does the same in the background.
    pub async fn abort(self) {
        if let Some(begun) = self.begun {
            begun.writer.abort().await;
        }
    }

    /// Detects the type from the first bytes.
    fn detect_type(&self) -> Result<&'static str, IntakeError> {
        let found = kind::sniff(&self.head);
        // Of files that are only viewed, text is nothing particular.
        let found = if self.any_type && found == Some(kind::VTT) {
            Some(kind::detect_any(&self.head))
        } else {
            found
        };
        let Some(mime) = found else {
            return match refusal::unsupported(&self.head) {
                IntakeError::Heic | IntakeError::Type(_) if self.any_type => {
                    Ok(kind::detect_any(&self.head))
                }
                refused => Err(refused),
            };
        };
        Ok(mime)
    }

    async fn begin(&mut self) -> Result<(), IntakeError> {
        let mime = self.detect_type()?;
        let limit = self.sizes.of(mime);
        if self.seen > limit {
            return Err(IntakeError::TooLarge { limit });
        }
        let mut text = (mime == kind::VTT).then(Utf8::default);
        text.iter_mut().try_for_each(|text| text.push(&self.head))?;
        let path = path::unguessable(&self.prefix, kind::extension(mime))?;
        let mut writer = self.store.writer(&path)?;
        let (mut scrub, mut scrubbed) = (Scrub::new(mime), Vec::new());
        scrub.push(&self.head, &mut scrubbed);
        self.hash.update(&scrubbed);
        writer.write(&scrubbed).await?;
        if !mime.starts_with("image/") {
            self.head = Vec::new();
        }
        self.begun = Some(OpenFile { writer, path, mime, scrub, scrubbed, text });
        Ok(())
    }
}

/// Omits the path, because everybody who knows it can fetch the file.
impl fmt::Debug for StoredMedia {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Taken")
            .field("mime", &self.mime)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Intake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Intake")
            .field("mime", &self.mime())
            .field("seen", &self.seen)
            .finish_non_exhaustive()
    }
}
