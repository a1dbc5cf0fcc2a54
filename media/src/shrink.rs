//! Pictures that are in no store: those of pages that a text links to.

use bytes::Bytes;

use crate::{
    Facts, Flaw, Profile, Scratch, Target, Tools,
    analysis::header,
    blocking::blocking,
    convert::{Content, picture},
    kind,
    local::Local,
};

/// Widest picture that is made, in pixels: no network shows a card wider.
const WIDTH_MAX: u32 = 2_000;

/// Makes `bytes`, a picture of any type that is known, a JPEG of at most `bytes_max` that looks the same. An animation
/// becomes its first picture.
///
/// # Errors
/// The flaw of the picture; [`Flaw::NoTools`] where ffmpeg is needed and missing, [`Flaw::Unfit`] if nothing so small
/// can be made.
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
    let local = Local::of(bytes, &space).await?;
    let base = Facts { mime: mime.to_owned(), bytes: size, ..Facts::default() };
    let at = local.path().to_owned();
    let facts = blocking(move || header::read(&at, base)).await?;
    let profile = Profile { target: Target::Jpeg, bytes_max, width_max: WIDTH_MAX };
    match picture::make(tools, &local, &facts, &profile).await?.content {
        Content::Memory(made) => Ok(made.into()),
        Content::File(at) => Ok(tokio::fs::read(&at).await?.into()),
    }
}
