//! Web pages whose address stands in a text: what a preview card says of them.
//!
//! Anybody may have written such an address. Only the guarded client asks there, and never the origin that the session
//! trusts: the configured server must not open its neighbours to the text of a post.

mod opengraph;

use std::time::Duration;

use bytes::Bytes;
use fanfare_outbound::Request;
use url::Url;

use crate::Session;

/// How much of a page is read, in bytes.
const BYTES_MAX: usize = 1_000_000;
const REDIRECTS_MAX: u8 = 5;
const DEADLINE: Duration = Duration::from_secs(10);

/// What a page says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Never empty.
    pub title: String,
    /// May be empty.
    pub description: String,
    /// Address of its picture.
    pub image: Option<Url>,
}

/// Reads the page behind an address; `None` if there is none, or it has no title.
pub async fn read(session: &Session, address: &str) -> Option<Page> {
    let request = guarded(session, Url::parse(address).ok()?)?;
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
    while html.len() < BYTES_MAX
        && let Some(chunk) = download.chunk().await.ok()?
    {
        html.extend_from_slice(&chunk);
    }
    html.truncate(BYTES_MAX);
    let said = opengraph::read(&String::from_utf8_lossy(&html))?;
    Some(Page {
        title: said.title,
        description: said.description.unwrap_or_default(),
        image: said.image.and_then(|image| download.url.join(&image).ok()),
    })
}

/// Fetches a picture of one of these types and at most so many bytes.
pub async fn image(
    session: &Session,
    address: &str,
    types: &'static [&'static str],
    bytes_max: usize,
) -> Option<(&'static str, Bytes)> {
    let request = guarded(session, Url::parse(address).ok()?)?.max_reply(bytes_max);
    let reply = request.send().await.ok()?;
    let content_type = reply.header("content-type")?.to_ascii_lowercase();
    let mime = types.iter().find(|mime| content_type.starts_with(**mime))?;
    (reply.status == 200 && !reply.body.is_empty()).then_some((*mime, reply.body))
}

fn guarded(session: &Session, url: Url) -> Option<Request> {
    let trusted = session.base.as_ref().map(Url::origin);
    (trusted != Some(url.origin()))
        .then(|| session.http.get(url).redirects(REDIRECTS_MAX).deadline(DEADLINE))
}
