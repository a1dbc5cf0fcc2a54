//! Shrinks pictures that are not in the store, such as those of linked pages.

use bytes::Bytes;

use crate::{
    Facts, Flaw, Profile, Scratch, Target, Tools,
    analysis::header,
    blocking::blocking,
    convert::{Content, picture},
    kind,
    local::LocalFile,
};

/// The largest width of the result in pixels. No platform shows a wider link card.
const MAX_WIDTH: u32 = 2_000;

/// Converts a picture of any supported type to a JPEG of at most `bytes_max` bytes. Only the first frame of an
/// animation
/// is kept.
///
/// # Errors
/// The flaw of the picture; [`Flaw::NoTools`] if ffmpeg is needed and missing, [`Flaw::Unfit`] if the result cannot be
/// small enough.
pub async fn shrink(
    tools: &Tools,
    scratch: &Scratch,
    bytes: &Bytes,
    bytes_max: u64,
) -> Result<Bytes, Flaw> {
    let mime = kind::sniff(bytes).filter(|mime| mime.starts_with("image/"));
    let mime = mime.ok_or_else(|| Flaw::Unreadable("it is no picture".to_owned()))?;
    let size = bytes.len() as u64;
    let space = scratch.space(size).await?;
    let local = LocalFile::from_bytes(bytes, &space).await?;
    let base = Facts { mime: mime.to_owned(), bytes: size, ..Facts::default() };
    let at = local.path().to_owned();
    let facts = blocking(move || header::read(&at, base)).await?;
    let profile = Profile { target: Target::Jpeg, bytes_max, width_max: MAX_WIDTH };
    match picture::make(tools, &local, &facts, &profile).await?.content {
        Content::Memory(made, _) => Ok(made.into()),
        Content::File(at) => Ok(tokio::fs::read(&at).await?.into()),
    }
}
