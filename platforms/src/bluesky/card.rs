//! The preview card of the first address in the text. If there is no card, the post does not fail.

use super::{
    client::Pds,
    state::{Card, CardText, State},
};
use crate::{Error, ErrorKind, Result, Session, page};

/// The largest image of a card (lexicon `app.bsky.embed.external`), in bytes.
const IMAGE_BYTES_MAX: usize = 1_000_000;
const IMAGE_TYPES: &[&str] = &["image/jpeg", "image/png", "image/webp", "image/gif"];

/// Reads the page behind an address.
pub async fn read(session: &Session, uri: &str) -> Card {
    let Some(read) = page::read(session, uri).await else { return Card::Missing };
    let page = CardText { uri: uri.to_owned(), title: read.title, description: read.description };
    match read.image {
        Some(image) => Card::Read { page, image: image.into() },
        None => Card::Ready { page, thumb: None },
    }
}

/// Uploads the image of the card; the card has none if it is not usable.
pub async fn upload(
    session: &Session,
    pds: &Pds<'_>,
    state: &mut State,
    place: usize,
) -> Result<()> {
    let Some(Card::Read { page, image }) = state.card_of(place).cloned() else { return Ok(()) };
    let thumb = match page::fetch_image(session, &image, IMAGE_TYPES, IMAGE_BYTES_MAX).await {
        Some((mime, bytes)) => match pds.upload(mime, bytes).await {
            Ok(blob) => Some(blob),
            Err(error) if concerns_account(&error) => return Err(error),
            Err(_) => None,
        },
        None => None,
    };
    if thumb.is_none() {
        state.warnings.push(page::missing_picture_warning(&image));
    }
    state.set_card(place, Card::Ready { page, thumb });
    Ok(())
}

/// Returns true if the post itself would fail with the same error.
fn concerns_account(error: &Error) -> bool {
    matches!(
        error.kind,
        ErrorKind::TokenExpired
            | ErrorKind::Reconnect
            | ErrorKind::RateLimited
            | ErrorKind::QuotaExhausted
    )
}
