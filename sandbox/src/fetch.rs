//! Fetching media by URL, as a network's crawler does.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::{Client, redirect};

use crate::specimen::{Growing, Specimen};

/// A crawler's patience with one file.
const PATIENCE: Duration = Duration::from_secs(20);

/// A fetched file.
#[derive(Debug, Clone)]
pub(crate) struct Fetched {
    /// As the server called it, in lower case, without parameters.
    pub mime: String,
    pub file: Specimen,
}

/// Why a file was not fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unfetched {
    /// The text is no http address.
    NoUrl,
    /// No 200 with a whole body came in time.
    Failed,
    /// It is larger than the network takes.
    TooLarge,
}

/// A crawler. It makes its client when it is first needed, for most sandboxes never fetch.
#[derive(Default)]
pub(crate) struct Crawler(OnceLock<Option<Client>>);

impl Crawler {
    fn client(&self) -> Option<&Client> {
        let build = || {
            let redirects = redirect::Policy::limited(3);
            let client = Client::builder().no_proxy().redirect(redirects).timeout(PATIENCE).build();
            client
                .inspect_err(|error| tracing::error!(%error, "the sandbox cannot fetch media"))
                .ok()
        };
        self.0.get_or_init(build).as_ref()
    }

    /// Fetches a file of at most `most` bytes.
    pub async fn fetch(&self, url: &str, most: u64) -> Result<Fetched, Unfetched> {
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(Unfetched::NoUrl);
        }
        let request = self
            .client()
            .ok_or(Unfetched::Failed)?
            .get(url)
            .header("user-agent", "fanfare-sandbox-crawler/1.0");
        let mut response = request.send().await.map_err(|_| Unfetched::Failed)?;
        if !response.status().is_success() {
            return Err(Unfetched::Failed);
        }
        let mime = response
            .headers()
            .get("content-type")
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let mime = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let mut file = Growing::default();
        while let Some(chunk) = response.chunk().await.map_err(|_| Unfetched::Failed)? {
            if file.add(&chunk) > most {
                return Err(Unfetched::TooLarge);
            }
        }
        Ok(Fetched { mime, file: file.done() })
    }
}
