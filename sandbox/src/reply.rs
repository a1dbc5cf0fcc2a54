//! An answer, before it is sent, cut short or thrown away.

use bytes::Bytes;
use salvo::http::{HeaderName, HeaderValue, Response, StatusCode};
use serde::Serialize;

const JSON: &str = "application/json; charset=utf-8";

/// Sent with every answer: whatever it holds, a browser runs nothing of it, and its address is passed on to nobody.
const HARMLESS: [(&str, &str); 3] = [
    (
        "content-security-policy",
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
];

/// A whole answer of a network.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub status: StatusCode,
    pub content_type: &'static str,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub body: Bytes,
}

/// The result of a network's handler: a refusal is an answer too.
pub(crate) type Answer = Result<Reply, Reply>;

impl Reply {
    /// A JSON answer. `status` must be a valid status.
    pub fn json(status: u16, body: &impl Serialize) -> Self {
        let body = serde_json::to_vec(body).unwrap_or_default();
        Self { status: code(status), content_type: JSON, headers: Vec::new(), body: body.into() }
    }

    /// 200 with JSON.
    pub fn ok(body: &impl Serialize) -> Self {
        Self::json(200, body)
    }

    /// An HTML page of our own, in which everything else is escaped.
    pub fn html(status: u16, body: String) -> Self {
        Self {
            status: code(status),
            content_type: "text/html; charset=utf-8",
            headers: Vec::new(),
            body: body.into(),
        }
    }

    /// A picture of ours.
    pub fn png(body: Vec<u8>) -> Self {
        let (headers, body) = (Vec::new(), body.into());
        Self { status: StatusCode::OK, content_type: "image/png", headers, body }
    }

    /// A status and nothing else.
    pub fn empty(status: u16) -> Self {
        Self { status: code(status), content_type: "", headers: Vec::new(), body: Bytes::new() }
    }

    /// The given bytes, called JSON if they look like it and otherwise text; never HTML, for anybody may have written
    /// them.
    pub fn raw(status: u16, body: String) -> Self {
        let content_type = if body.trim_start().starts_with(['{', '[']) {
            JSON
        } else {
            "text/plain; charset=utf-8"
        };
        Self { status: code(status), content_type, headers: Vec::new(), body: body.into() }
    }

    /// Adds a header. A value that HTTP forbids is left out.
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        if let Ok(value) = HeaderValue::from_str(&value.to_string()) {
            self.headers.push((HeaderName::from_static(name), value));
        }
        self
    }

    /// Lets a browser do what this policy says in place of nothing.
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
        for (name, value) in HARMLESS {
            let name = HeaderName::from_static(name);
            headers.entry(name).or_insert(HeaderValue::from_static(value));
        }
    }

    /// Writes the whole answer.
    pub fn write(self, res: &mut Response) {
        self.write_head(res);
        // Without this salvo would put its own page in place of an empty error.
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
