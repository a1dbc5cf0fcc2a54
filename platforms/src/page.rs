//! Metadata of web pages that a text links to, for preview cards.
//!
//! Such an address is untrusted input. Only the guarded client requests it, and without the origin that the session
//! trusts: the text of a post must not reach the configured server's neighbours.

mod charset;
mod head;
mod picture;

use std::time::Duration;

use fanfare_outbound::Request;
use url::Url;

use crate::Session;

pub use picture::{PictureShrinker, fetch_image, missing_picture_warning};

/// The most bytes of a page that are read.
const BYTES_MAX: usize = 512 << 10;
const REDIRECTS_MAX: u8 = 5;
const DEADLINE: Duration = Duration::from_secs(10);

/// The metadata of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageMetadata {
    /// Empty if the page's character set is unknown.
    pub title: String,
    /// May be empty.
    pub description: String,
    /// Address of its picture.
    pub image: Option<Url>,
}

/// Fetches the page at an address; `None` if there is none or it has no title.
pub async fn read(session: &Session, address: &str) -> Option<PageMetadata> {
    let request = guarded_request(session, Url::parse(address).ok()?)?;
    // The rest of a large page is not needed, so a cut is not an error.
    let mut download =
        request.header("accept", "text/html").max_reply(usize::MAX).open().await.ok()?;
    let content_type = download.headers.get("content-type")?.to_str().ok()?.to_owned();
    let is_page = ["text/html", "application/xhtml+xml"]
        .iter()
        .any(|kind| content_type.trim_start().to_ascii_lowercase().starts_with(kind));
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
    let url = download.url.clone();
    // Half a megabyte takes milliseconds.
    tokio::task::spawn_blocking(move || parse(&html, &content_type, &url)).await.ok()?
}

/// Parses a page that was fetched from `url`.
pub(crate) fn parse(html: &[u8], content_type: &str, url: &Url) -> Option<PageMetadata> {
    let decoded = charset::decode(html, content_type);
    let said = head::read(&decoded.text);
    let base = said.base.and_then(|base| url.join(&base).ok()).unwrap_or_else(|| url.clone());
    let image = said.image.filter(|image| decoded.known || image.is_ascii());
    let image = image.and_then(|image| base.join(&image).ok());
    let image = image.filter(|image| matches!(image.scheme(), "http" | "https"));
    if !decoded.known {
        return Some(PageMetadata { title: String::new(), description: String::new(), image });
    }
    Some(PageMetadata {
        title: said.title?,
        description: said.description.unwrap_or_default(),
        image,
    })
}

fn guarded_request(session: &Session, url: Url) -> Option<Request> {
    let trusted = session.base.as_ref().map(Url::origin);
    (trusted != Some(url.origin()))
        .then(|| session.http.get(url).redirects(REDIRECTS_MAX).deadline(DEADLINE))
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::parse;

    fn image(html: &str) -> Option<String> {
        let url = Url::parse("https://page.example/news/today?x=1").unwrap();
        let html = format!("<title>T</title>{html}");
        parse(html.as_bytes(), "text/html", &url).unwrap().image.map(String::from)
    }

    #[test]
    fn an_image_is_found_from_where_the_page_stands() {
        let meta = |address: &str| format!("<meta property=og:image content='{address}'>");
        for (html, address) in [
            (meta("/a.png"), "https://page.example/a.png"),
            (meta("a.png"), "https://page.example/news/a.png"),
            (meta("../a.png?b=%2F&amp;c"), "https://page.example/a.png?b=%2F&c"),
            (meta("//cdn.example/a.png"), "https://cdn.example/a.png"),
            (meta("HTTP://cdn.example/a.png"), "http://cdn.example/a.png"),
            (format!("<base href='/img/'>{}", meta("a.png")), "https://page.example/img/a.png"),
            (
                format!("{}<base href='//cdn.example/x/'><base href='/y/'>", meta("a.png")),
                "https://cdn.example/x/a.png",
            ),
        ] {
            assert_eq!(image(&html).as_deref(), Some(address), "{html}");
        }
        for html in [meta("data:image/png;base64,AA"), meta("javascript:x"), meta("")] {
            assert_eq!(image(&html), None, "{html}");
        }
    }

    #[test]
    fn what_cannot_be_decoded_is_left_out() {
        let url = Url::parse("https://page.example/").unwrap();
        let html = b"<title>\xff\xfe\xfd</title><meta property=og:image content=/a.png>";
        let page = parse(html, "text/html; charset=klingon", &url).unwrap();
        assert_eq!(page.title, "");
        assert_eq!(page.image.unwrap().as_str(), "https://page.example/a.png");
        // In UTF-8 these bytes are nothing: the title cannot be read, and there is no other.
        assert_eq!(parse(html, "text/html; charset=utf-8", &url), None);
    }
}
