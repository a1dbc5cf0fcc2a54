//! Fetches the picture of a card or a cover.

use std::fmt::Debug;

use async_trait::async_trait;
use bytes::Bytes;
use url::Url;

use super::guarded_request;
use crate::{Session, Warning, WarningCode, validate::excerpt};

/// Media type and bytes of a picture.
pub type Picture = (&'static str, Bytes);

/// The largest picture that is fetched to be shrunk, in bytes.
const FETCHED_MAX: usize = 20 << 20;

/// The type of the pictures that a [`PictureShrinker`] returns.
const JPEG: &str = "image/jpeg";

/// Makes pictures smaller. This crate has no codecs, so the creator of a session provides the implementation.
#[async_trait]
pub trait PictureShrinker: Debug + Send + Sync {
    /// Returns the picture, whose type is detected from its bytes, as a JPEG of at most `bytes_max`; `None` if that
    /// fails.
    async fn shrink(&self, picture: Bytes, bytes_max: usize) -> Option<Bytes>;
}

/// Fetches a picture and shrinks it if needed, so that it has one of these types and at most `bytes_max` bytes.
pub async fn fetch_image(
    session: &Session,
    address: &str,
    types: &'static [&'static str],
    bytes_max: usize,
) -> Option<Picture> {
    let shrinker = session.picture_shrinker.as_ref().filter(|_| types.contains(&JPEG));
    let fetched_max = if shrinker.is_some() { FETCHED_MAX.max(bytes_max) } else { bytes_max };
    let request = guarded_request(session, Url::parse(address).ok()?)?.max_reply(fetched_max);
    let reply = request.send().await.ok().filter(|reply| reply.status == 200)?;
    let declared = reply.header("content-type").unwrap_or_default().trim().to_ascii_lowercase();
    let known = || types.iter().copied().find(|mime| declared.starts_with(*mime));
    let mime = detect_type(&reply.body).or_else(known)?;
    if types.contains(&mime) && reply.body.len() <= bytes_max {
        return (!reply.body.is_empty()).then_some((mime, reply.body));
    }
    Some((JPEG, shrinker?.shrink(reply.body, bytes_max).await?))
}

/// Returns the warning that a card has no picture.
pub fn missing_picture_warning(image: &str) -> Warning {
    let message = format!(
        "The link's card has no picture: {} could not be fetched, is no picture, or could not be made to fit.",
        excerpt(image)
    );
    Warning::new(WarningCode::CardWithoutPicture, "caption", message).with("url", image)
}

/// Detects the type of a picture from its first bytes: the type that a server declares is often wrong.
fn detect_type(bytes: &[u8]) -> Option<&'static str> {
    let at = |place: usize, wanted: &[u8]| bytes.get(place..place + wanted.len()) == Some(wanted);
    let signs: [(&str, bool); 4] = [
        (JPEG, at(0, b"\xff\xd8\xff")),
        ("image/png", at(0, b"\x89PNG\r\n\x1a\n")),
        ("image/gif", at(0, b"GIF87a") || at(0, b"GIF89a")),
        ("image/webp", at(0, b"RIFF") && at(8, b"WEBP")),
    ];
    signs.into_iter().find(|(_, fits)| *fits).map(|(mime, _)| mime)
}

#[cfg(test)]
mod tests {
    use super::detect_type;

    #[test]
    fn pictures_are_told_by_their_first_bytes() {
        for (bytes, mime) in [
            (b"\xff\xd8\xff\xe0 and more".as_slice(), Some("image/jpeg")),
            (b"\x89PNG\r\n\x1a\n", Some("image/png")),
            (b"GIF89a", Some("image/gif")),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some("image/webp")),
            (b"RIFF\0\0\0\0WAVE", None),
            (b"<html>", None),
            (b"", None),
        ] {
            assert_eq!(detect_type(bytes), mime, "{bytes:?}");
        }
    }
}
