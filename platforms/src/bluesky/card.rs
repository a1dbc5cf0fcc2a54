//! The preview card of the first address in the text. A card that cannot be had never fails the post.

use std::time::Duration;

use bytes::Bytes;
use url::Url;

use super::{
    client::Pds,
    opengraph,
    state::{Card, Page},
};
use crate::{Error, Kind, Result, Session};

/// How much of a page is read, and the largest image of a card (lexicon `app.bsky.embed.external`), in bytes.
const PAGE_BYTES_MAX: usize = 1_000_000;
const IMAGE_BYTES_MAX: usize = 1_000_000;
const REDIRECTS_MAX: u8 = 5;
const DEADLINE: Duration = Duration::from_secs(10);
const IMAGE_TYPES: &[&str] = &["image/jpeg", "image/png", "image/webp", "image/gif"];

/// Reads the page behind an address.
pub async fn read(session: &Session, uri: &str) -> Card {
    let found = match Url::parse(uri) {
        Ok(url) => page(session, url).await,
        Err(_) => None,
    };
    let Some((read, base)) = found else { return Card::Missing };
    let page = Page {
        uri: uri.to_owned(),
        title: read.title,
        description: read.description.unwrap_or_default(),
    };
    match read.image.and_then(|image| base.join(&image).ok()) {
        Some(image) => Card::Read { page, image: image.into() },
        None => Card::Ready { page, thumb: None },
    }
}

async fn page(session: &Session, url: Url) -> Option<(opengraph::Page, Url)> {
    let request = guarded(session, url)?;
    // The rest of a large page is not needed, so it is no error.
    let mut download =
        request.header("accept", "text/html").max_reply(usize::MAX).open().await.ok()?;
    let content_type = download.headers.get("content-type")?.to_str().ok()?.to_ascii_lowercase();
    let is_page =
        ["text/html", "application/xhtml+xml"].iter().any(|kind| content_type.starts_with(kind));
    if download.status != 200 || !is_page {
        return None;
    }
    let mut html = Vec::new();
    while html.len() < PAGE_BYTES_MAX
        && let Some(chunk) = download.chunk().await.ok()?
    {
        html.extend_from_slice(&chunk);
    }
    html.truncate(PAGE_BYTES_MAX);
    opengraph::read(&String::from_utf8_lossy(&html)).map(|page| (page, download.url.clone()))
}

/// A request to an address that anybody may have written. The client trusts the configured server, which must not
/// open that server's neighbours to the text of a post.
fn guarded(session: &Session, url: Url) -> Option<fanfare_outbound::Request> {
    let trusted = session.base.as_ref().map(Url::origin);
    (trusted != Some(url.origin()))
        .then(|| session.http.get(url).redirects(REDIRECTS_MAX).deadline(DEADLINE))
}

/// Uploads the image of the card; without a usable one the card goes without.
pub async fn upload(session: &Session, pds: &Pds<'_>, card: Option<Card>) -> Result<Option<Card>> {
    let Some(Card::Read { page, image }) = card else { return Ok(card) };
    let thumb = match image_of(session, &image).await {
        Some((mime, bytes)) => match pds.upload(mime, bytes).await {
            Ok(blob) => Some(blob),
            Err(error) if concerns_account(&error) => return Err(error),
            Err(_) => None,
        },
        None => None,
    };
    Ok(Some(Card::Ready { page, thumb }))
}

/// The post itself would meet the same error.
fn concerns_account(error: &Error) -> bool {
    matches!(
        error.kind,
        Kind::TokenExpired | Kind::Reconnect | Kind::RateLimited | Kind::QuotaExhausted
    )
}

async fn image_of(session: &Session, address: &str) -> Option<(&'static str, Bytes)> {
    let request = guarded(session, Url::parse(address).ok()?)?.max_reply(IMAGE_BYTES_MAX);
    let reply = request.send().await.ok()?;
    let content_type = reply.header("content-type")?.to_ascii_lowercase();
    let mime = IMAGE_TYPES.iter().find(|mime| content_type.starts_with(**mime))?;
    (reply.status == 200 && !reply.body.is_empty()).then_some((*mime, reply.body))
}
