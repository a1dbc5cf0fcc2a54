//! Replies over HTTP. Errors are written the same way as successes, so that a stored error is repeated byte for byte.

use std::collections::HashMap;

use fanfare_core::{Code, Error, Reply};
use salvo::http::{
    HeaderValue, ResBody, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, RETRY_AFTER, WWW_AUTHENTICATE},
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value};

use crate::{oauth::challenge, words};

/// Returns an error as a reply, without the parts that differ from request to request.
#[must_use]
pub fn refusal(error: &Error) -> Reply {
    Reply::ok(&error.refusal()).with_status(error.status()).cast()
}

/// Writes a reply. `base_url` is the origin of `/docs/errors`.
pub fn write<T>(res: &mut Response, reply: Reply<T>, request_id: &str, base_url: &str) {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = res.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if reply.replayed {
        headers.insert("idempotent-replayed", HeaderValue::from_static("true"));
    }
    let poll_after = reply.poll_after;
    let mut body = reply.into_body();
    if let Some(seconds) = poll_after {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    if status.is_client_error() || status.is_server_error() {
        let signed = refusal_body(&body, request_id, base_url);
        if let Some(seconds) = signed["retry_after"].as_u64() {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        if status == StatusCode::UNAUTHORIZED {
            let is_bad = signed["code"] != Code::MissingApiKey.entry().code;
            headers.insert(WWW_AUTHENTICATE, challenge::unauthorized(base_url, "", is_bad));
        }
        body = signed.to_string();
    }
    res.status_code(status);
    res.replace_body(ResBody::Once(body.into()));
}

/// Returns the version of an entry of a reply that is a success.
#[must_use]
pub fn version(reply: &Reply, entry: &str) -> Option<i64> {
    #[derive(Deserialize)]
    struct Versioned {
        version: Option<i64>,
    }
    if reply.status >= 300 {
        return None;
    }
    // Other entries are skipped without being kept.
    let mut reader = serde_json::Deserializer::from_str(reply.body());
    let entries: HashMap<String, Option<Entry<Versioned>>> =
        HashMap::deserialize(&mut reader).ok()?;
    match entries.get(entry)? {
        Some(Entry::Object(versioned)) => versioned.version,
        _ => None,
    }
}

/// An entry of a reply: an object, or something else.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry<T> {
    Object(T),
    Other(IgnoredAny),
}

/// Writes the `ETag` of a version.
pub fn set_version(res: &mut Response, version: Option<i64>) {
    let tag = version.and_then(|version| HeaderValue::from_str(&format!("\"{version}\"")).ok());
    if let Some(tag) = tag {
        res.headers_mut().insert(ETAG, tag);
    }
}

/// Returns the body of an error with the fields that the domain does not know: `doc_url` and `request_id`.
#[must_use]
pub fn refusal_body(body: &str, request_id: &str, base_url: &str) -> Value {
    let mut body: Map<String, Value> = serde_json::from_str(body).unwrap_or_default();
    let code = body.get("code").and_then(Value::as_str).unwrap_or_default();
    let doc_url = format!("{base_url}/docs/errors#{code}");
    body.insert("doc_url".to_owned(), doc_url.into());
    body.insert("request_id".to_owned(), request_id.into());
    let mut body = Value::Object(body);
    words::requests().render(&mut body, None);
    body
}

#[cfg(test)]
mod tests {
    use fanfare_core::Code;
    use salvo::test::ResponseExt;

    use super::*;

    #[tokio::test]
    async fn a_refusal_says_where_it_is_explained_and_when_to_come_back() {
        let error = Error::new(Code::IdempotencyInProgress, "Still running.").with_retry_after(7);
        let mut res = Response::new();
        write(&mut res, refusal(&error), "req_12345678", "https://f.example");
        assert_eq!(res.status_code, Some(StatusCode::CONFLICT));
        assert_eq!(res.headers()["retry-after"], "7");
        let body: Value = res.take_json().await.unwrap();
        assert_eq!(body["error"], "Still running.");
        assert_eq!(body["code"], "idempotency_in_progress");
        assert_eq!(body["retryable"], true);
        assert_eq!(body["request_id"], "req_12345678");
        assert_eq!(body["doc_url"], "https://f.example/docs/errors#idempotency_in_progress");
    }

    #[tokio::test]
    async fn a_repeated_refusal_differs_by_its_request_id_alone() {
        let error = Error::field(Code::UnknownField, "x", "There is no x.", "Leave it out.");
        let (mut first, mut second) = (Response::new(), Response::new());
        write(&mut first, refusal(&error), "req_11111111", "https://f.example");
        let mut again = refusal(&error);
        again.replayed = true;
        write(&mut second, again, "req_22222222", "https://f.example");
        assert_eq!(second.headers()["idempotent-replayed"], "true");
        let first = first.take_string().await.unwrap();
        let second = second.take_string().await.unwrap();
        assert_eq!(first.replace("11111111", "22222222"), second);
    }
}
