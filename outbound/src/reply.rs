//! Responses, read completely or as a stream.

use std::{fmt, time::Duration};

use bytes::Bytes;
use chrono::{DateTime, Utc};
use http::{HeaderMap, HeaderValue, Method, header::CONTENT_LENGTH};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::{Error, ErrorKind, body::RequestGuard, error::root_cause_text, odd_json, retry_after};

/// A response of any status whose body was read completely.
#[derive(Clone)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: Bytes,
    /// The origin of the response: the last hop, if redirects were followed.
    pub url: Url,
}

impl Reply {
    /// Parses the body as JSON, whatever its content type.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidJson`] if it is not the expected JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        odd_json::read(&self.body).map_err(|cause| {
            Error::new(ErrorKind::InvalidJson, &self.url, redacted_message(&cause))
        })
    }

    /// Parses the JSON at the end of the body, behind other output: on sites that show notices of their programs.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidJson`] if it is not the expected JSON.
    pub fn json_behind_output<T: DeserializeOwned>(&self) -> Result<T, Error> {
        odd_json::read_behind_output(&self.body).map_err(|cause| {
            Error::new(ErrorKind::InvalidJson, &self.url, redacted_message(&cause))
        })
    }

    /// Returns the value of a header, if it exists and is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(HeaderValue::to_str)?.ok()
    }

    /// Returns the time that the server asks to wait (`Retry-After`, in seconds or as an HTTP date, which is compared
    /// with
    /// the `Date` of the response). At most a year.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        retry_after::parse(self.header("retry-after")?, self.header("date"))
    }

    /// Returns the time of the server that answered (`Date`), if it says one.
    #[must_use]
    pub fn date(&self) -> Option<DateTime<Utc>> {
        retry_after::http_date(self.header("date")?)
    }

    /// Returns true if the status is 2xx.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the body as text, with invalid UTF-8 replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Shows no content, because responses may contain tokens.
impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("status", &self.status)
            .field("host", &self.url.host_str())
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// Returns a message that does not quote the response, which may contain a token. Field names come from our own types.
fn redacted_message(cause: &serde_json::Error) -> String {
    let text = cause.to_string();
    let (line, column) = (cause.line(), cause.column());
    match cause.classify() {
        serde_json::error::Category::Data if text.starts_with("missing field") => text,
        serde_json::error::Category::Data => {
            format!("a value is not of the expected kind at line {line} column {column}")
        }
        _ => format!("it is not JSON, or cut short, at line {line} column {column}"),
    }
}

/// A response whose head was read and whose body is still to be read.
pub struct Download {
    /// HTTP status.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// The origin of the response: the last hop, if redirects were followed.
    pub url: Url,
    /// The length of the body in bytes, if the server tells it. For a HEAD request, this is the length for a GET
    /// request.
    pub content_length: Option<u64>,
    response: reqwest::Response,
    until: Instant,
    room: usize,
    cap: usize,
    /// Kept until the end, because a response may arrive while the request is still being sent.
    _leash: RequestGuard,
}

impl Download {
    pub(crate) fn begin(
        (mut response, leash): (reqwest::Response, RequestGuard),
        (method, url): (&Method, Url),
        until: Instant,
        cap: usize,
    ) -> Result<Self, Error> {
        let headers = std::mem::take(response.headers_mut());
        let length =
            headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        let download = Self {
            status: response.status().as_u16(),
            headers,
            url,
            content_length: length,
            response,
            until,
            room: cap,
            cap,
            _leash: leash,
        };
        if method != Method::HEAD && length.is_some_and(|length| length > cap as u64) {
            return Err(download.too_large());
        }
        Ok(download)
    }

    /// Returns the time that the server asks to wait, like [`Reply::retry_after`].
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        let header = |name: &str| self.headers.get(name).and_then(|value| value.to_str().ok());
        retry_after::parse(header("retry-after")?, header("date"))
    }

    /// Returns the next chunk of the body, or `None` after the last one.
    ///
    /// # Errors
    /// [`ErrorKind::Lost`] if the body ends early or the deadline passes; [`ErrorKind::TooLarge`] if it exceeds the
    /// size
    /// limit of the request.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let late = || Error::lost(&self.url, "it did not end before the deadline");
        // With a body that always has bytes ready, the timer would never be checked.
        if Instant::now() >= self.until {
            return Err(late());
        }
        let chunk = timeout_at(self.until, self.response.chunk())
            .await
            .map_err(|_| late())?
            .map_err(|cause| Error::lost(&self.url, root_cause_text(&cause)))?;
        let Some(chunk) = chunk else { return Ok(None) };
        self.room = self.room.checked_sub(chunk.len()).ok_or_else(|| self.too_large())?;
        Ok(Some(chunk))
    }

    /// Reads the rest of the body.
    pub(crate) async fn into_reply(mut self) -> Result<Reply, Error> {
        let mut chunks = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            chunks.push(chunk);
        }
        let body = match chunks.len() {
            1 => chunks.remove(0),
            _ => chunks.concat().into(),
        };
        Ok(Reply { status: self.status, headers: self.headers, body, url: self.url })
    }

    fn too_large(&self) -> Error {
        Error::new(ErrorKind::TooLarge, &self.url, format!("{} bytes", self.cap))
    }
}

impl fmt::Debug for Download {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Download")
            .field("status", &self.status)
            .field("host", &self.url.host_str())
            .field("content_length", &self.content_length)
            .finish_non_exhaustive()
    }
}
