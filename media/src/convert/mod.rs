//! Converts a file so that it fits a platform: another type, fewer pixels or fewer bytes. Converted files have no
//! metadata.

pub(crate) mod picture;
mod profile;
mod video;

use std::path::Path;

use bytes::Bytes;
use futures_util::StreamExt;
use tokio_util::io::ReaderStream;

use crate::{Facts, Flaw, Scratch, Store, Tools, Writer, kind, path, picture::Reserved};

pub use profile::{Profile, Target};

/// A converted file in the store.
#[derive(Clone, PartialEq, Eq)]
pub struct Variant {
    /// The path, which is unguessable like that of the source.
    pub path: String,
    /// Media type.
    pub mime: String,
    /// Size in bytes.
    pub bytes: u64,
    /// The displayed width in pixels.
    pub width: Option<u32>,
    /// The displayed height in pixels.
    pub height: Option<u32>,
}

/// Omits the path, because everybody who knows it can fetch the file.
impl std::fmt::Debug for Variant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Variant")
            .field("mime", &self.mime)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

/// Converts the stored file at `from` with these `facts` so that it fits `profile`, and stores the result under
/// `prefix`.
///
/// # Errors
/// [`Flaw::NoTools`] where ffmpeg is needed and missing, [`Flaw::Unfit`] if nothing that fits can be made;
/// only [`Flaw::Temporary`] is worth a retry.
pub async fn convert(
    store: &Store,
    tools: &Tools,
    scratch: &Scratch,
    (from, facts): (&str, &Facts),
    profile: &Profile,
    prefix: &str,
) -> Result<Variant, Flaw> {
    facts.check_size()?;
    if facts.is_video() && tools.ffmpeg.is_none() {
        return Err(Flaw::NoTools);
    }
    // Requested at once, because two conversions that each hold half of their space would wait for each other.
    let most = if facts.is_video() { max_output_bytes(facts, profile) } else { 0 };
    let space = scratch.space(store.local_space(facts.bytes) + most).await?;
    let local = store.local(from, &space).await?;
    let made = if profile.target == Target::Mp4 {
        video::make(tools, (&space, most), &local, facts, profile).await?
    } else {
        picture::make(tools, &local, facts, profile).await?
    };
    let path = path::unguessable(prefix, kind::extension(profile.target.mime()))?;
    let bytes = store_converted(store, &path, &made).await?;
    let (width, height) = made.size.unzip();
    Ok(Variant { path, mime: profile.target.mime().to_owned(), bytes, width, height })
}

/// Returns the largest size in bytes of the converted file on the local disk: at most what the platform accepts, and
/// at most a reasonable size for this source file.
fn max_output_bytes(facts: &Facts, profile: &Profile) -> u64 {
    const SPARE: u64 = 64 * 1024 * 1024;
    profile.bytes_max.min(facts.bytes.saturating_mul(4)).saturating_add(SPARE)
}

/// A converted file that is not stored yet.
pub(crate) struct Converted {
    pub content: Content,
    /// The displayed size. Unknown for videos.
    size: Option<(u32, u32)>,
}

pub(crate) enum Content {
    /// With the memory that was reserved for it.
    Memory(Vec<u8>, #[expect(dead_code, reason = "held until it is stored")] Reserved),
    /// A temporary file that is deleted with the value.
    File(tempfile::TempPath),
}

async fn store_converted(store: &Store, path: &str, made: &Converted) -> Result<u64, Flaw> {
    let mut writer = store.writer(path)?;
    match write_content(&mut writer, made).await {
        Ok(()) => Ok(writer.finish().await?),
        Err(flaw) => {
            writer.abort().await;
            Err(flaw)
        }
    }
}

async fn write_content(writer: &mut Writer, made: &Converted) -> Result<(), Flaw> {
    let from: &Path = match &made.content {
        Content::Memory(bytes, _) => return Ok(writer.write(bytes).await?),
        Content::File(at) => at,
    };
    let mut pieces = ReaderStream::with_capacity(tokio::fs::File::open(from).await?, 128 * 1024);
    while let Some(piece) = pieces.next().await {
        let piece: Bytes = piece?;
        writer.write(&piece).await?;
    }
    Ok(())
}
