//! Builds requests.

use std::{fmt, time::Duration};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method,
    header::{
        AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, TE,
        TRAILER, TRANSFER_ENCODING, UPGRADE,
    },
};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use url::Url;

use crate::{
    Client, Error, ErrorKind, FileStream, Multipart, client::Question, piece::BodyPart,
    redirect::is_safe_header,
};

const DEFAULT_DEADLINE: Duration = Duration::from_secs(30);
const DEFAULT_MAX_REPLY: usize = 1024 * 1024;

/// Headers that are derived from the address and the body. A caller must not set them, because they could make an
/// incomplete request look complete, or reach another host on a checked address.
const RESERVED_HEADERS: [HeaderName; 8] =
    [CONNECTION, CONTENT_LENGTH, EXPECT, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];

/// A request that is being built. Mistakes in it are reported when it is sent.
#[must_use = "a request does nothing until it is sent"]
pub struct Request {
    pub(crate) client: Client,
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) payload: Vec<BodyPart>,
    pub(crate) deadline: Duration,
    pub(crate) max_reply: usize,
    pub(crate) redirects: u8,
    pub(crate) fresh: bool,
    pub(crate) fault: Option<Error>,
}

impl Request {
    pub(crate) fn new(client: Client, method: Method, url: Url) -> Self {
        let question = client.question().filter(|_| method == Method::GET);
        let request = Self {
            client,
            method,
            url,
            headers: HeaderMap::new(),
            payload: Vec::new(),
            deadline: DEFAULT_DEADLINE,
            max_reply: DEFAULT_MAX_REPLY,
            redirects: 0,
            fresh: false,
            fault: None,
        };
        match question {
            Some(question) => request.asking_anew(question),
            None => request,
        }
    }

    /// Makes it a request that no cache has seen. Many caches ignore the header, so the address is new too where it may.
    fn asking_anew(mut self, question: Question) -> Self {
        if let Some(name) = question.parameter {
            self.url.query_pairs_mut().append_pair(name, &unlike_any());
        }
        self.header(CACHE_CONTROL.as_str(), "no-cache")
    }

    /// Sets a header, replacing any of the same name. `Host`, `Content-Length` and other headers that are derived from
    /// the
    /// address and the body are rejected.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else {
            return self.fail("a header name is not valid");
        };
        if RESERVED_HEADERS.contains(&name) {
            return self.fail(&format!("the header {name} is not the caller's to set"));
        }
        let Ok(mut value) = HeaderValue::from_str(value) else {
            return self.fail(&format!("the value of the header {name} is not valid"));
        };
        value.set_sensitive(!is_safe_header(&name));
        self.headers.insert(name, value);
        self
    }

    /// Uses a new connection. A server may close an idle connection just when it is used again, and then it is unknown
    /// whether it has read the request. For calls that cost money and must not be made twice.
    pub const fn on_new_connection(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// Adds a bearer token.
    pub fn bearer(self, token: &SecretString) -> Self {
        self.header(AUTHORIZATION.as_str(), &format!("Bearer {}", token.expose_secret()))
    }

    /// Adds a user name and a password (Basic authentication).
    pub fn basic(self, user: &str, password: &SecretString) -> Self {
        let pair = BASE64_STANDARD.encode(format!("{user}:{}", password.expose_secret()));
        self.header(AUTHORIZATION.as_str(), &format!("Basic {pair}"))
    }

    /// Appends form-encoded parameters to the query.
    pub fn query<T: Serialize + ?Sized>(mut self, q: &T) -> Self {
        match self.template().query(q).build() {
            Ok(built) => self.url = built.url().clone(),
            Err(_) => return self.fail("the query cannot be encoded"),
        }
        self
    }

    /// Sets a JSON body.
    pub fn json<T: Serialize + ?Sized>(self, body: &T) -> Self {
        match serde_json::to_vec(body) {
            Ok(bytes) => self.body("application/json", bytes.into()),
            Err(_) => self.fail("the body cannot be written as JSON"),
        }
    }

    /// Sets a form as the body (`application/x-www-form-urlencoded`).
    pub fn form<T: Serialize + ?Sized>(self, body: &T) -> Self {
        let built = self.template().form(body).build();
        match built.as_ref().map(|built| built.body().and_then(reqwest::Body::as_bytes)) {
            Ok(Some(bytes)) => {
                self.body("application/x-www-form-urlencoded", Bytes::copy_from_slice(bytes))
            }
            _ => self.fail("the form cannot be encoded"),
        }
    }

    /// Sets a body of bytes and its content type.
    pub fn body(mut self, content_type: &str, bytes: Bytes) -> Self {
        self.payload = vec![BodyPart::Bytes(bytes)];
        self.header(CONTENT_TYPE.as_str(), content_type)
    }

    /// Sets a file of `size` bytes as the body and its content type. The file is read while it is sent. If it has
    /// another
    /// size or cannot be read, the end of the request is never handed over: [`ErrorKind::NotSent`].
    pub fn file(mut self, content_type: &str, size: u64, pieces: FileStream) -> Self {
        self.payload = vec![BodyPart::file(size, pieces)];
        self.header(CONTENT_TYPE.as_str(), content_type)
    }

    /// Sets a form with files as the body.
    pub fn multipart(mut self, form: Multipart) -> Self {
        let Some((content_type, pieces)) = form.finish() else {
            return self.fail("the media type of a file is not valid");
        };
        self.payload = pieces;
        self.header(CONTENT_TYPE.as_str(), &content_type)
    }

    /// Sets the time limit for the name lookup, connection, sending, reading and redirects together. The default is 30
    /// s.
    pub fn deadline(mut self, d: Duration) -> Self {
        self.deadline = d;
        self
    }

    /// Sets the largest response in bytes; a larger one is [`ErrorKind::TooLarge`]. The default is 1 MiB.
    pub fn max_reply(mut self, bytes: usize) -> Self {
        self.max_reply = bytes;
        self
    }

    /// Follows up to `max` redirects of a GET or HEAD request. The default is 0. A redirect that is not followed is
    /// returned as the response. Each hop is checked, gets no credentials if its origin differs, and is trusted only if
    /// all
    /// hops so far had the same trusted origin.
    pub fn redirects(mut self, max: u8) -> Self {
        self.redirects = max;
        self
    }

    /// Returns a builder of the HTTP library that is only used to encode the body; it sends nothing.
    fn template(&self) -> reqwest::RequestBuilder {
        let request = reqwest::Request::new(self.method.clone(), self.url.clone());
        reqwest::RequestBuilder::from_parts(self.client.pooled_client(false).clone(), request)
    }

    fn fail(mut self, why: &str) -> Self {
        let fault = || Error::new(ErrorKind::Invalid, &self.url, why);
        self.fault = Some(self.fault.take().unwrap_or_else(fault));
        self
    }
}

/// Returns a text of letters and digits that no other request has: for one that no cache may answer.
#[must_use]
pub fn unlike_any() -> String {
    format!("{:016x}", rand::random::<u64>())
}

/// Omits the path, the query and the values of headers, because they may contain tokens.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.payload.iter().map(BodyPart::size).sum::<u64>();
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("host", &self.url.host_str())
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("bytes", &bytes)
            .finish_non_exhaustive()
    }
}
