//! A file on its way in: told by its bytes, counted, hashed, and written while it comes.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::{
    Error, Store, Writer,
    dimensions::{self, dimensions},
    kind, path, refusal,
    scrub::Scrub,
};

/// Largest sizes in bytes, by what a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Of images, and of documents.
    pub image: u64,
    /// Of videos.
    pub video: u64,
}

impl Sizes {
    /// The same for everything.
    #[must_use]
    pub const fn all(bytes: u64) -> Self {
        Self { image: bytes, video: bytes }
    }

    /// For a file of this type.
    #[must_use]
    pub fn of(self, mime: &str) -> u64 {
        if mime.starts_with("video/") { self.video } else { self.image }
    }

    /// None larger than this.
    #[must_use]
    pub fn at_most(self, bytes: u64) -> Self {
        Self { image: self.image.min(bytes), video: self.video.min(bytes) }
    }
}

/// A file that is in the store, whole.
#[derive(Clone, PartialEq, Eq)]
pub struct Taken {
    /// Its path: the prefix, an unguessable name, and the type's extension.
    pub path: String,
    /// Media type, told by the bytes.
    pub mime: &'static str,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 of the bytes as they are stored, in hex.
    pub digest: String,
    /// Width in pixels as shown; of images only.
    pub width: Option<u32>,
    /// Height in pixels as shown; of images only.
    pub height: Option<u32>,
}

/// The remedy for an HEIC photo.
pub const HEIC_REMEDY: &str = "Save it as JPEG and send that: on an iPhone, Settings, Camera, Formats, Most Compatible \
                               makes new photos JPEG.";

/// The reason a file was not taken. Each text is a sentence for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The file has no bytes.
    #[error("The file is empty.")]
    Empty,
    /// It is a page of a web site, which is what a wrong address or a log-in gives.
    #[error("The file is a web page.")]
    Page,
    /// It is what phones make, and no network takes; see [`HEIC_REMEDY`].
    #[error("The file is an HEIC photo, which networks do not take.")]
    Heic,
    /// It is of a type that is not supported: what it is.
    #[error("{0}")]
    Type(String),
    /// It is too large.
    #[error("The file is larger than the {limit} bytes that are taken here.")]
    TooLarge {
        /// Largest size in bytes.
        limit: u64,
    },
    /// Our own store failed; a later try may go better.
    #[error(transparent)]
    Store(#[from] Error),
}

/// Takes one file in, whole or not at all, in constant memory: a few parts of it, and an image's first 512 KiB. Dropped
/// before [`Intake::finish`], it leaves nothing. The place at which an image was taken is blanked on the way: it is never
/// stored.
pub struct Intake {
    store: Store,
    prefix: String,
    sizes: Sizes,
    any_type: bool,
    head: Vec<u8>,
    hash: Sha256,
    seen: u64,
    begun: Option<Begun>,
}

/// The type is known, and with it the name.
struct Begun {
    writer: Writer,
    path: String,
    mime: &'static str,
    scrub: Scrub,
    /// The result of the last piece.
    scrubbed: Vec<u8>,
}

impl Intake {
    /// A file for `store`, somewhere under `prefix`.
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

    /// The same for a file of any type but a web page: one that is kept to be looked at, and never sent to a network.
    #[must_use]
    pub fn of_any_type(mut self) -> Self {
        self.any_type = true;
        self
    }

    /// Takes the next bytes. The type is judged with the first 4 KiB, the size with every byte.
    ///
    /// # Errors
    /// [`Refused`]. The file is lost then.
    pub async fn write(&mut self, piece: &[u8]) -> Result<(), Refused> {
        self.seen += piece.len() as u64;
        if let Some(begun) = &mut self.begun {
            let limit = self.sizes.of(begun.mime);
            if self.seen > limit {
                return Err(Refused::TooLarge { limit });
            }
            begun.scrubbed.clear();
            begun.scrub.push(piece, &mut begun.scrubbed);
            self.hash.update(&begun.scrubbed);
            begun.writer.write(&begun.scrubbed).await?;
            let wanted = if begun.mime.starts_with("image/") { dimensions::HEADER } else { 0 };
            let more = wanted.saturating_sub(self.head.len()).min(piece.len());
            self.head.extend_from_slice(&piece[..more]);
            return Ok(());
        }
        self.head.extend_from_slice(piece);
        if self.head.len() >= kind::SNIFFED { self.begin().await } else { Ok(()) }
    }

    /// The type of the file, once enough of it has come.
    #[must_use]
    pub fn mime(&self) -> Option<&'static str> {
        self.begun.as_ref().map(|begun| begun.mime)
    }

    /// Bytes that have come.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Ends the file: decides its type at the latest now. Called by [`Intake::finish`] unless it was called before.
    ///
    /// # Errors
    /// [`Refused`].
    pub async fn end(&mut self) -> Result<&'static str, Refused> {
        if self.begun.is_none() {
            self.begin().await?;
        }
        self.mime().ok_or(Refused::Empty)
    }

    /// Puts the file in its place. It is on disk, or the bucket's, after that.
    ///
    /// # Errors
    /// [`Refused`]. Nothing is left behind then.
    pub async fn finish(mut self) -> Result<Taken, Refused> {
        self.end().await?;
        let Some(begun) = self.begun else { return Err(Refused::Empty) };
        let Begun { mut writer, path, mime, scrub, .. } = begun;
        let rest = scrub.end();
        self.hash.update(&rest);
        writer.write(&rest).await?;
        let bytes = writer.finish().await?;
        let (width, height) = dimensions(&self.head).unzip();
        let digest = self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Taken { path, mime, bytes, digest, width, height })
    }

    /// Gives the file up, and returns when nothing of it is left. Dropping does the same in the background.
    pub async fn abort(self) {
        if let Some(begun) = self.begun {
            begun.writer.abort().await;
        }
    }

    /// The type that the first bytes tell.
    fn told(&self) -> Result<&'static str, Refused> {
        let Some(mime) = kind::sniff(&self.head) else {
            return match refusal::of(&self.head) {
                Refused::Heic | Refused::Type(_) if self.any_type => Ok(kind::any(&self.head)),
                refused => Err(refused),
            };
        };
        Ok(mime)
    }

    async fn begin(&mut self) -> Result<(), Refused> {
        let mime = self.told()?;
        let limit = self.sizes.of(mime);
        if self.seen > limit {
            return Err(Refused::TooLarge { limit });
        }
        let path = path::fresh(&self.prefix, kind::extension(mime))?;
        let mut writer = self.store.writer(&path)?;
        let (mut scrub, mut scrubbed) = (Scrub::new(mime), Vec::new());
        scrub.push(&self.head, &mut scrubbed);
        self.hash.update(&scrubbed);
        writer.write(&scrubbed).await?;
        if !mime.starts_with("image/") {
            self.head = Vec::new();
        }
        self.begun = Some(Begun { writer, path, mime, scrub, scrubbed });
        Ok(())
    }
}

/// The path is not shown: it is enough to fetch the file.
impl fmt::Debug for Taken {
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
