//! A response, before it is sent, cut off or discarded.

use bytes::Bytes;
use salvo::http::{HeaderName, HeaderValue, Response, StatusCode};
use serde::Serialize;

const JSON: &str = "application/json; charset=utf-8";

/// Headers of every response: a browser must not run anything in it, and must not pass on its address.
const SECURITY_HEADERS: [(&str, &str); 3] = [
    (
        "content-security-policy",
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
];

/// A complete response of a network.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub status: StatusCode,
    pub content_type: &'static str,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub body: Bytes,
}

/// The result of a handler: a refusal is a response too.
pub(crate) type HandlerResult = Result<Reply, Reply>;

impl Reply {
    /// Creates a JSON response. `status` must be a valid status.
    pub fn json(status: u16, body: &impl Serialize) -> Self {
        let body = serde_json::to_vec(body).unwrap_or_default();
        Self { status: code(status), content_type: JSON, headers: Vec::new(), body: body.into() }
    }

    /// Creates a 200 response with JSON.
    pub fn ok(body: &impl Serialize) -> Self {
        Self::json(200, body)
    }

    /// Creates an HTML response. All foreign text in `body` must be escaped.
    pub fn html(status: u16, body: String) -> Self {
        Self {
            status: code(status),
            content_type: "text/html; charset=utf-8",
            headers: Vec::new(),
            body: body.into(),
        }
    }

    /// Creates a response with a PNG.
    pub fn png(body: Vec<u8>) -> Self {
        let (headers, body) = (Vec::new(), body.into());
        Self { status: StatusCode::OK, content_type: "image/png", headers, body }
    }

    /// Creates an empty response.
    pub fn empty(status: u16) -> Self {
        Self { status: code(status), content_type: "", headers: Vec::new(), body: Bytes::new() }
    }

    /// Creates a response with an untrusted body, declared as JSON if it looks like it and otherwise as text, never as
    /// HTML.
    pub fn raw(status: u16, body: String) -> Self {
        let content_type = if body.trim_start().starts_with(['{', '[']) {
            JSON
        } else {
            "text/plain; charset=utf-8"
        };
        Self { status: code(status), content_type, headers: Vec::new(), body: body.into() }
    }

    /// Adds a header, unless its value is invalid in HTTP.
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        if let Ok(value) = HeaderValue::from_str(&value.to_string()) {
            self.headers.push((HeaderName::from_static(name), value));
        }
        self
    }

    /// Adds a header whose name is not known beforehand, unless it is invalid in HTTP.
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
            self.headers.push((name, value));
        }
        self
    }

    /// Replaces the strict content security policy.
    pub fn with_policy(self, policy: &str) -> Self {
        self.with("content-security-policy", policy)
    }

    /// Writes status and headers, not the body.
    pub fn write_head(&self, res: &mut Response) {
        res.status_code(self.status);
        let headers = res.headers_mut();
        if !self.content_type.is_empty() {
            headers.insert(
                salvo::http::header::CONTENT_TYPE,
                HeaderValue::from_static(self.content_type),
            );
        }
        for (name, value) in &self.headers {
            headers.append(name, value.clone());
        }
        for (name, value) in SECURITY_HEADERS {
            let name = HeaderName::from_static(name);
            headers.entry(name).or_insert(HeaderValue::from_static(value));
        }
    }

    /// Writes the complete response.
    pub fn write(self, res: &mut Response) {
        self.write_head(res);
        // Without this, salvo would replace an empty error with its own page.
        let body = if self.body.is_empty() {
            salvo::http::ResBody::Chunks(std::collections::VecDeque::new())
        } else {
            self.body.into()
        };
        res.body(body);
    }
}

fn code(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
