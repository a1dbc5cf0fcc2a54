//! A fully read request, with its path relative to the network's root.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use salvo::http::{HeaderMap, Method, ReqBody, Request};
use serde_json::Value;
use url::form_urlencoded;

/// A request to a network.
pub(crate) struct Call {
    pub method: Method,
    /// The path below the network's root, without the leading slash: `xrpc/com.atproto.server.createSession`.
    pub path: String,
    pub query: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// Why a request could not be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// Its body is larger than the network accepts.
    TooLarge,
    /// The client went away or broke the protocol.
    Broken,
}

impl Call {
    /// Reads a request with `path` below the network's root and a body of at most `most` bytes.
    pub async fn read(req: &mut Request, path: String, most: usize) -> Result<Self, ReadError> {
        let body = read_body(req.take_body(), most).await?;
        Ok(Self {
            method: req.method().clone(),
            path,
            query: req.uri().query().unwrap_or_default().to_owned(),
            headers: std::mem::take(req.headers_mut()),
            body,
        })
    }

    /// Returns the segments of the path; a trailing slash adds none.
    pub fn segments(&self) -> Vec<&str> {
        self.path.trim_end_matches('/').split('/').filter(|s| !s.is_empty()).collect()
    }

    /// Returns the `n`th segment of the path, from 0; empty if there is none.
    pub fn segment(&self, n: usize) -> &str {
        self.segments().get(n).copied().unwrap_or_default()
    }

    /// Returns the decoded pairs of the query.
    pub fn query_pairs(&self) -> impl Iterator<Item = (String, String)> + '_ {
        form_urlencoded::parse(self.query.as_bytes()).into_owned()
    }

    /// Returns the first value of `name` in the query.
    pub fn query_value(&self, name: &str) -> Option<String> {
        self.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Returns a header, if it is visible ASCII.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns the token of `Authorization: Bearer`.
    pub fn bearer(&self) -> Option<&str> {
        let (scheme, token) = self.header("authorization")?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    }

    /// Returns the user and password of `Authorization: Basic`.
    pub fn basic(&self) -> Option<(String, String)> {
        let (scheme, encoded) = self.header("authorization")?.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let decoded = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
        let (user, password) = decoded.split_once(':')?;
        Some((user.to_owned(), password.to_owned()))
    }

    /// Returns the content type without parameters, in lower case.
    pub fn media_type(&self) -> String {
        let whole = self.header("content-type").unwrap_or_default();
        whole.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// Parses the body as JSON.
    pub fn json(&self) -> Result<Value, serde_json::Error> {
        serde_json::from_slice(&self.body)
    }
}

/// Reads the body. One that is too large is still read up to a point, because a client that cannot finish sending may
/// never read the response.
async fn read_body(mut body: ReqBody, most: usize) -> Result<Bytes, ReadError> {
    let mut first = Bytes::new();
    let mut more = BytesMut::new();
    let mut size = 0;
    while let Some(frame) = body.next().await {
        let Ok(data) = frame.map_err(|_| ReadError::Broken)?.into_data() else { continue };
        size += data.len();
        if size > most {
            (first, more) = (Bytes::new(), BytesMut::new());
            if size > most.saturating_mul(4) {
                break;
            }
        } else if first.is_empty() {
            first = data;
        } else {
            if more.is_empty() {
                more.extend_from_slice(&first);
            }
            more.extend_from_slice(&data);
        }
    }
    match size {
        size if size > most => Err(ReadError::TooLarge),
        _ if more.is_empty() => Ok(first),
        _ => Ok(more.freeze()),
    }
}
