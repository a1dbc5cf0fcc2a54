//! Analyses the bytes of a file, within hard limits.
//!
//! Pictures are read in this process: first their headers, then their pixels with [`crate::picture`]. Videos are read
//! by ffprobe, or without it by parsers of their containers. Files or addresses that a file refers to are never opened.

mod atoms;
mod container;
mod facts;
pub(crate) mod header;
mod jpeg;
mod poster;
mod probe;

use bytes::Bytes;

use crate::{
    Flaw, Scratch, Store, Tools,
    blocking::blocking,
    kind,
    local::LocalFile,
    picture::{self, Aim, Background, Canvas, HEADER_MEMORY, reserve},
};

pub use facts::Facts;

/// The longer side of the picture that a placeholder is made from.
const PLACEHOLDER_SIDE: u32 = 64;

/// The result of an analysis.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// The facts of the file.
    pub facts: Facts,
    /// A frame of a video as a JPEG.
    pub poster: Option<Bytes>,
}

/// Analyses the stored file at `path`, which was stored as `mime`. If the store is not on this machine, the file is
/// first copied to `scratch` when there is enough space.
///
/// # Errors
/// The flaw of the file. Only [`Flaw::Temporary`] is worth a retry.
pub async fn analyse(
    store: &Store,
    tools: &Tools,
    scratch: &Scratch,
    path: &str,
    mime: &str,
) -> Result<Analysis, Flaw> {
    let bytes = store.stat(path).await?.size;
    let head = read_head(store, path, bytes).await?;
    let found = kind::sniff(&head);
    if found != Some(mime) {
        let found = found.or_else(|| kind::detect(&head)).unwrap_or("of a type that is not known");
        return Err(Flaw::Mismatch { named: mime.to_owned(), found: found.to_owned() });
    }
    let base = Facts { mime: mime.to_owned(), bytes, ..Facts::default() };
    if mime == "application/pdf" || mime == kind::VTT {
        return Ok(Analysis { facts: base, poster: None });
    }
    let space = scratch.space(store.local_space(bytes)).await?;
    let local = store.local(path, &space).await?;
    if mime.starts_with("image/") {
        analyse_picture(tools, &local, base).await
    } else {
        analyse_video(tools, &local, base).await
    }
}

async fn read_head(store: &Store, path: &str, bytes: u64) -> Result<Bytes, Flaw> {
    use futures_util::TryStreamExt;
    if bytes == 0 {
        return Err(Flaw::Unreadable("it is empty".to_owned()));
    }
    let wanted = bytes.min(kind::SNIFF_BYTES as u64);
    let pieces = store.open_range(path, 0..wanted).await?.into_stream();
    let pieces: Vec<Bytes> = pieces.try_collect().await?;
    Ok(pieces.concat().into())
}

async fn analyse_picture(tools: &Tools, local: &LocalFile, base: Facts) -> Result<Analysis, Flaw> {
    let at = local.path().to_owned();
    let header = reserve(HEADER_MEMORY).await;
    let facts = blocking(move || header::read(&at, base)).await?;
    drop(header);
    let aim = Aim { side: PLACEHOLDER_SIDE, ground: Background::Clear, file: 0 };
    let small = picture::draw(tools, local, &facts, aim).await;
    let placeholder = match small {
        Ok((small, _memory)) => placeholder(small),
        // Without ffmpeg, a large picture has no placeholder, but all other facts.
        Err(Flaw::NoTools) => None,
        Err(flaw) => return Err(flaw),
    };
    Ok(Analysis { facts: Facts { placeholder, ..facts }, poster: None })
}

async fn analyse_video(tools: &Tools, local: &LocalFile, base: Facts) -> Result<Analysis, Flaw> {
    let at = local.path().to_owned();
    let (mime, bytes) = (base.mime.clone(), base.bytes);
    let faststart = blocking(move || Ok(atoms::moov_is_first(&at, &mime, bytes))).await?;
    let facts = match &tools.ffprobe {
        Some(ffprobe) => probe::read(ffprobe, local, base).await?,
        None => {
            let at = local.path().to_owned();
            blocking(move || container::read(&at, base)).await?
        }
    };
    let facts = Facts { faststart, ..facts };
    facts.check_size()?;
    let Some(poster) = poster::take(tools, local, &facts).await else {
        return Ok(Analysis { facts, poster: None });
    };
    let small = picture::thumbnail(poster.clone(), PLACEHOLDER_SIDE).await.ok();
    let placeholder = small.and_then(|(small, _memory)| placeholder(small));
    Ok(Analysis { facts: Facts { placeholder, ..facts }, poster: Some(poster) })
}

/// Returns a BlurHash with 4 by 3 components: a text of 28 characters that encodes a blurred picture.
fn placeholder(small: Canvas) -> Option<String> {
    let small = small.into_rgba()?;
    blurhash::encode(4, 3, small.width(), small.height(), small.as_raw()).ok()
}
