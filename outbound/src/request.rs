//! A request being built.

use std::{fmt, time::Duration};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method,
    header::{
        AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, TE, TRAILER,
        TRANSFER_ENCODING, UPGRADE,
    },
};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use url::Url;

use crate::{Client, Error, ErrorKind, FileStream, Multipart, piece::Piece, redirect::is_harmless};

const DEADLINE: Duration = Duration::from_secs(30);
const MAX_REPLY: usize = 1024 * 1024;

/// Headers that follow from the address and the body. A caller's own would make a request look complete that is not,
/// or reach another host's pages on a checked address.
const NOT_THE_CALLERS: [HeaderName; 8] =
    [CONNECTION, CONTENT_LENGTH, EXPECT, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];

/// One request being built. What is wrong with it surfaces when it is sent.
#[must_use = "a request does nothing until it is sent"]
pub struct Request {
    pub(crate) client: Client,
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) payload: Vec<Piece>,
    pub(crate) deadline: Duration,
    pub(crate) max_reply: usize,
    pub(crate) redirects: u8,
    pub(crate) fresh: bool,
    pub(crate) fault: Option<Error>,
}

impl Request {
    pub(crate) fn new(client: Client, method: Method, url: Url) -> Self {
        Self {
            client,
            method,
            url,
            headers: HeaderMap::new(),
            payload: Vec::new(),
            deadline: DEADLINE,
            max_reply: MAX_REPLY,
            redirects: 0,
            fresh: false,
            fault: None,
        }
    }

    /// Sets a header, replacing one of the same name. `Host`, `Content-Length` and other headers that follow from the
    /// address and the body are refused.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else {
            return self.fail("a header name is not valid");
        };
        if NOT_THE_CALLERS.contains(&name) {
            return self.fail(&format!("the header {name} is not the caller's to set"));
        }
        let Ok(mut value) = HeaderValue::from_str(value) else {
            return self.fail(&format!("the value of the header {name} is not valid"));
        };
        value.set_sensitive(!is_harmless(&name));
        self.headers.insert(name, value);
        self
    }

    /// Sends over a new connection: a server may close a kept one at the very moment at which it is used again, and then
    /// nobody knows whether it has read the request. For calls that cost money and must not be made twice.
    pub const fn on_a_fresh_connection(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// Authorizes with a bearer token.
    pub fn bearer(self, token: &SecretString) -> Self {
        self.header(AUTHORIZATION.as_str(), &format!("Bearer {}", token.expose_secret()))
    }

    /// Authorizes with a user name and a password.
    pub fn basic(self, user: &str, password: &SecretString) -> Self {
        let pair = BASE64_STANDARD.encode(format!("{user}:{}", password.expose_secret()));
        self.header(AUTHORIZATION.as_str(), &format!("Basic {pair}"))
    }

    /// Appends to the query, form-encoded.
    pub fn query<T: Serialize + ?Sized>(mut self, q: &T) -> Self {
        match self.template().query(q).build() {
            Ok(built) => self.url = built.url().clone(),
            Err(_) => return self.fail("the query cannot be encoded"),
        }
        self
    }

    /// Sends JSON.
    pub fn json<T: Serialize + ?Sized>(self, body: &T) -> Self {
        match serde_json::to_vec(body) {
            Ok(bytes) => self.body("application/json", bytes.into()),
            Err(_) => self.fail("the body cannot be written as JSON"),
        }
    }

    /// Sends a form, `application/x-www-form-urlencoded`.
    pub fn form<T: Serialize + ?Sized>(self, body: &T) -> Self {
        let built = self.template().form(body).build();
        match built.as_ref().map(|built| built.body().and_then(reqwest::Body::as_bytes)) {
            Ok(Some(bytes)) => {
                self.body("application/x-www-form-urlencoded", Bytes::copy_from_slice(bytes))
            }
            _ => self.fail("the form cannot be encoded"),
        }
    }

    /// Sends bytes of a type.
    pub fn body(mut self, content_type: &str, bytes: Bytes) -> Self {
        self.payload = vec![Piece::Bytes(bytes)];
        self.header(CONTENT_TYPE.as_str(), content_type)
    }

    /// Sends a file of a type and of `size` bytes, read while it is sent. Should it turn out to have another size, or to
    /// be unreadable, the request ends before its end was handed over: [`ErrorKind::NotSent`].
    pub fn file(mut self, content_type: &str, size: u64, pieces: FileStream) -> Self {
        self.payload = vec![Piece::file(size, pieces)];
        self.header(CONTENT_TYPE.as_str(), content_type)
    }

    /// Sends a form with files.
    pub fn multipart(mut self, form: Multipart) -> Self {
        let Some((content_type, pieces)) = form.finish() else {
            return self.fail("the media type of a file is not valid");
        };
        self.payload = pieces;
        self.header(CONTENT_TYPE.as_str(), &content_type)
    }

    /// Time for everything together: look-up, connection, sending, reading, redirects. 30 s unless set.
    pub fn deadline(mut self, d: Duration) -> Self {
        self.deadline = d;
        self
    }

    /// Largest answer in bytes; a larger one is [`ErrorKind::TooLarge`]. 1 MiB unless set.
    pub fn max_reply(mut self, bytes: usize) -> Self {
        self.max_reply = bytes;
        self
    }

    /// Follows up to `max` redirects of a GET or HEAD request; 0 unless set. A redirect that is not followed is
    /// returned as it is. Each hop is checked, leaves credentials behind when it leaves the origin, and is trusted only
    /// if all hops so far stayed in one trusted origin.
    pub fn redirects(mut self, max: u8) -> Self {
        self.redirects = max;
        self
    }

    /// Lets the HTTP library encode what it knows how to; nothing is sent with it.
    fn template(&self) -> reqwest::RequestBuilder {
        let request = reqwest::Request::new(self.method.clone(), self.url.clone());
        reqwest::RequestBuilder::from_parts(self.client.pool(false).clone(), request)
    }

    fn fail(mut self, why: &str) -> Self {
        let fault = || Error::new(ErrorKind::Invalid, &self.url, why);
        self.fault = Some(self.fault.take().unwrap_or_else(fault));
        self
    }
}

/// Neither the path nor the query nor a header's value is shown: each may be a token.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.payload.iter().map(Piece::size).sum::<u64>();
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("host", &self.url.host_str())
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("bytes", &bytes)
            .finish_non_exhaustive()
    }
}
