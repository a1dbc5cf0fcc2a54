//! Request bodies: bounded, JSON, and an object.

use bytes::{Bytes, BytesMut};
use fanfare_domain::{Code, Error, Result};
use futures_util::StreamExt;
use salvo::http::{
    HeaderMap, ReqBody, Request,
    header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE},
};
use serde_json::Value;

use crate::json;

/// The largest JSON body, in bytes.
const LARGEST: usize = 1 << 20;

/// So much of a body that is too large is read all the same, in bytes: most clients look for the answer only when they
/// have sent everything.
const DRAINED: usize = 32 << 20;

/// A body that was read.
#[derive(Debug, Default)]
pub struct Incoming {
    /// The bytes, as they came.
    pub raw: Bytes,
    /// The object in them; none if there was no body.
    pub value: Option<Value>,
    /// What keeps it from being looked at. It is told only once it is clear that the caller may use the route at all.
    pub refusal: Option<Error>,
}

/// Reads the body.
///
/// # Errors
/// [`Code::InvalidJson`], which comes before all that depends on what the body says.
pub async fn read(req: &mut Request) -> Result<Incoming> {
    let body = req.take_body();
    let raw = match collect(body, announced(req.headers())).await {
        Ok(raw) => raw,
        Err(refusal) if refusal.code() == Code::PayloadTooLarge => {
            return Ok(Incoming { refusal: Some(refusal), ..Incoming::default() });
        }
        Err(broken) => return Err(broken),
    };
    if raw.is_empty() {
        return Ok(Incoming::default());
    }
    if let Some(refusal) = not_json(req.headers()) {
        return Ok(Incoming { raw, refusal: Some(refusal), value: None });
    }
    let value = json::parse(&raw).map_err(|message| Error::new(Code::InvalidJson, message))?;
    if !value.is_object() {
        return Err(Error::new(Code::InvalidJson, "The body must be a JSON object."));
    }
    Ok(Incoming { raw, value: Some(value), refusal: None })
}

fn announced(headers: &HeaderMap) -> usize {
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    length.unwrap_or(0)
}

async fn collect(mut body: ReqBody, announced: usize) -> Result<Bytes> {
    let too_large = || {
        let message = format!("The body is larger than {LARGEST} bytes.");
        Error::new(Code::PayloadTooLarge, message).with("limit", LARGEST)
    };
    if announced > DRAINED {
        return Err(too_large());
    }
    let (mut kept, mut seen) = (BytesMut::with_capacity(announced.min(LARGEST)), 0_usize);
    while let Some(frame) = body.next().await {
        let broken = |_| Error::new(Code::InvalidJson, "The body ended before its end.");
        let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
        seen += data.len();
        if seen <= LARGEST {
            kept.extend_from_slice(&data);
        } else if seen > DRAINED {
            break;
        }
    }
    if seen > LARGEST { Err(too_large()) } else { Ok(kept.freeze()) }
}

fn not_json(headers: &HeaderMap) -> Option<Error> {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let sent = text(CONTENT_TYPE).unwrap_or_default();
    let media_type = sent.split(';').next().unwrap_or_default().trim();
    let plain =
        text(CONTENT_ENCODING).is_none_or(|encoding| encoding.eq_ignore_ascii_case("identity"));
    if plain && media_type.eq_ignore_ascii_case("application/json") {
        return None;
    }
    let message = "The body must be sent as `Content-Type: application/json`, not compressed.";
    Some(Error::new(Code::UnsupportedMediaType, message))
}

#[cfg(test)]
mod tests {
    use salvo::test::{RequestBuilder, TestClient};

    use super::*;

    fn post() -> RequestBuilder {
        TestClient::post("http://localhost/").add_header("content-type", "application/json", true)
    }

    #[tokio::test]
    async fn a_json_object_is_read_and_nothing_at_all_too() {
        let read = read(&mut post().body("{\"a\": 1}").build()).await.unwrap();
        assert_eq!(read.value.unwrap()["a"], 1);
        assert_eq!(&read.raw[..], b"{\"a\": 1}");
        let none = super::read(&mut TestClient::post("http://localhost/").build()).await.unwrap();
        assert!(none.value.is_none() && none.refusal.is_none());
    }

    #[tokio::test]
    async fn what_is_no_object_is_invalid_json() {
        for bad in ["[]", "1", "{", "{\"a\":1,\"a\":2}", "\u{feff}{}"] {
            let error = read(&mut post().body(bad).build()).await.unwrap_err();
            assert_eq!(error.code(), Code::InvalidJson, "{bad}");
        }
    }

    #[tokio::test]
    async fn size_and_type_are_told_later() {
        let fits = format!("{{\"a\":\"{}\"}}", "x".repeat(LARGEST - 8));
        assert_eq!(fits.len(), LARGEST);
        assert!(read(&mut post().body(fits).build()).await.unwrap().value.is_some());
        let large = format!("{{\"a\":\"{}\"}}", "x".repeat(LARGEST - 7));
        let refusal = read(&mut post().body(large).build()).await.unwrap().refusal.unwrap();
        assert_eq!(refusal.code(), Code::PayloadTooLarge);
        let text = TestClient::post("http://localhost/").body("{}").build();
        for mut request in
            [text, post().add_header("content-encoding", "gzip", true).body("{}").build()]
        {
            let refusal = read(&mut request).await.unwrap().refusal.unwrap();
            assert_eq!(refusal.code(), Code::UnsupportedMediaType);
        }
        let charset = post().add_header("content-type", "Application/JSON; charset=utf-8", true);
        assert!(read(&mut charset.body("{}").build()).await.unwrap().value.is_some());
    }
}
