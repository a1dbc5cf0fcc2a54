//! Fetching media by URL, as a network's crawler does.

use std::time::Duration;

use fanfare_outbound::{Client, ErrorKind};
use url::Url;

use crate::received_file::{FileReceiver, ReceivedFile};

/// The timeout of fetching one file.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The number of redirects it follows.
const REDIRECTS: u8 = 3;

/// A fetched file.
#[derive(Debug, Clone)]
pub(crate) struct Fetched {
    /// The type that the server declared, in lower case, without parameters.
    pub mime: String,
    pub file: ReceivedFile,
}

/// Why a file was not fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FetchError {
    /// The text is not an http address.
    NoUrl,
    /// No complete 200 response arrived in time, or the address must not be fetched.
    Failed,
    /// It is larger than the network accepts.
    TooLarge,
}

/// A network's crawler. The addresses are untrusted, so it uses the product's guarded client, which reaches only one
/// non-public address: the product's own media.
pub(crate) struct Crawler {
    strangers: Client,
    own: Option<(Url, Client)>,
}

impl Crawler {
    /// Creates a crawler that uses `http`; files below `media` are the product's own.
    pub fn new(http: Client, media: Option<Url>) -> Self {
        let strangers = http.counted_as("simulator");
        let own = media.map(|url| (url.clone(), strangers.trusting(&[url])));
        Self { strangers, own }
    }

    fn client(&self, url: &Url) -> &Client {
        let is_own = |media: &Url| {
            let below = url.path().strip_prefix(media.path().trim_end_matches('/'));
            url.origin() == media.origin() && below.is_some_and(|below| below.starts_with('/'))
        };
        match &self.own {
            Some((media, client)) if is_own(media) => client,
            _ => &self.strangers,
        }
    }

    /// Fetches a file of at most `most` bytes.
    pub async fn fetch(&self, url: &str, most: u64) -> Result<Fetched, FetchError> {
        let url = Url::parse(url).map_err(|_| FetchError::NoUrl)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(FetchError::NoUrl);
        }
        let request = self
            .client(&url)
            .get(url)
            .redirects(REDIRECTS)
            .deadline(TIMEOUT)
            .max_reply(usize::try_from(most).unwrap_or(usize::MAX));
        let mut answer = request.open().await.map_err(|error| fetch_error(&error))?;
        if !(200..300).contains(&answer.status) {
            return Err(FetchError::Failed);
        }
        let mime = answer.headers.get("content-type").and_then(|value| value.to_str().ok());
        let mime = mime.unwrap_or_default().split(';').next().unwrap_or_default();
        let mime = mime.trim().to_ascii_lowercase();
        let mut file = FileReceiver::default();
        while let Some(chunk) = answer.chunk().await.map_err(|error| fetch_error(&error))? {
            file.add(&chunk);
        }
        Ok(Fetched { mime, file: file.finish() })
    }
}

fn fetch_error(error: &fanfare_outbound::Error) -> FetchError {
    if error.kind == ErrorKind::TooLarge { FetchError::TooLarge } else { FetchError::Failed }
}
