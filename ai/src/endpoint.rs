//! The address of a provider and its key.

use std::{fmt, time::Duration};

use fanfare_outbound::{Client, Download, Request};
use secrecy::SecretString;
use serde_json::Value;
use url::Url;

use crate::{Failure, failure::Interface};

/// The time-out of a download, and the largest video.
const LONGEST: Duration = Duration::from_secs(600);
const LARGEST: usize = 500_000_000;

/// The address of a provider and its key. Cheap to clone.
#[derive(Clone)]
pub struct Endpoint {
    http: Client,
    base: Url,
    key: Option<SecretString>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("host", &self.base.host_str()).finish_non_exhaustive()
    }
}

impl Endpoint {
    /// Returns the endpoint at `base`, which the operator configured; its requests are counted as `peer`.
    #[must_use]
    pub fn new(http: &Client, peer: &'static str, base: Url, key: Option<SecretString>) -> Self {
        let http = http.counted_as(peer).trusting(std::slice::from_ref(&base));
        Self { http, base, key }
    }

    fn url(&self, path: &str) -> Result<Url, Failure> {
        let base = self.base.as_str().trim_end_matches('/');
        Url::parse(&format!("{base}/{path}")).map_err(|_| Failure::bad_answer())
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Request, Failure> {
        Ok(self.http.post(self.url(path)?).json(body))
    }

    pub(crate) fn get(&self, path: &str) -> Result<Request, Failure> {
        Ok(self.http.get(self.url(path)?))
    }

    /// Adds the key to a request as a bearer token.
    pub(crate) fn with_bearer_token(&self, request: Request) -> Request {
        match &self.key {
            Some(key) => request.bearer(key),
            None => request,
        }
    }

    /// Adds the key to a request in Google's header.
    pub(crate) fn with_google_key(&self, request: Request) -> Request {
        match &self.key {
            Some(key) => {
                request.header("x-goog-api-key", secrecy::ExposeSecret::expose_secret(key))
            }
            None => request,
        }
    }
}

impl Endpoint {
    /// Opens the download of a video at the address that the provider gave; the key is sent only to the provider's own
    /// address.
    ///
    /// # Errors
    /// [`Failure`].
    pub(crate) async fn download(&self, url: Url, is_with_key: bool) -> Result<Download, Failure> {
        let is_own = url.origin() == self.base.origin();
        let mut request = self.http.get(url).deadline(LONGEST).max_reply(LARGEST).redirects(3);
        if is_with_key && is_own {
            request = self.with_google_key(request);
        }
        let film = request.open().await?;
        if (200..300).contains(&film.status) { Ok(film) } else { Err(Failure::bad_answer()) }
    }
}

/// Sends a request of an interface, within a time, and reads the JSON of its reply, which has at most so many bytes.
pub(crate) async fn json(
    interface: Interface,
    request: Request,
    (deadline, most): (Duration, usize),
) -> Result<Value, Failure> {
    let reply = request.deadline(deadline).max_reply(most).send().await?;
    if !reply.is_success() {
        return Err(Failure::of_reply(interface, &reply));
    }
    reply.json().map_err(|_| Failure::bad_answer())
}
