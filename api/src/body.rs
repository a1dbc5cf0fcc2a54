//! Reads request bodies: JSON objects of limited size.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use fanfare_core::{Code, Error, RefusalDetails, Result, offload};
use futures_util::{Stream, StreamExt};
use salvo::{
    Response,
    http::{
        HeaderMap, HeaderValue, ReqBody, Request, Version,
        body::Body as _,
        header::{CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT},
    },
};
use serde_json::Value;

use crate::json;

/// The largest JSON body of most routes, in bytes.
pub const LARGEST: usize = 1 << 20;

/// The most bytes that are read of a body that is too large: most clients read the reply only when they have sent
/// everything.
pub const MAX_DRAIN: usize = 32 << 20;

/// The most bytes that are read and dropped of a body that no handler has read.
const MAX_UNREAD: usize = 64 << 10;

/// The longest time for which a body is read and dropped.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// A request body, read and parsed.
#[derive(Debug, Default)]
pub struct RequestBody {
    /// The bytes as received.
    pub raw: Bytes,
    /// The JSON object; `None` without a body.
    pub value: Option<Value>,
    /// Why it cannot be used. It is reported only once the caller has been authorized.
    pub refusal: Option<Error>,
}

/// Reads a body of at most `most` bytes; a larger one is refused with `code`.
///
/// # Errors
/// [`Code::InvalidJson`], which is reported before everything that depends on the content.
pub async fn read(req: &mut Request, most: usize, code: Code) -> Result<RequestBody> {
    let raw = match read_bytes(req, most, code).await? {
        Ok(raw) => raw,
        Err(refusal) => {
            return Ok(RequestBody { refusal: Some(refusal), ..RequestBody::default() });
        }
    };
    parse(req.headers(), raw).await
}

/// Parses the bytes of a body.
///
/// # Errors
/// [`Code::InvalidJson`].
pub async fn parse(headers: &HeaderMap, raw: Bytes) -> Result<RequestBody> {
    if raw.is_empty() {
        return Ok(RequestBody::default());
    }
    if let Some(refusal) = unsupported_type(headers) {
        return Ok(RequestBody { raw, refusal: Some(refusal), value: None });
    }
    let bytes = raw.clone();
    let parsed = offload(bytes.len(), move || json::parse(&bytes)).await?;
    let value = parsed.map_err(|message| Error::new(Code::InvalidJson, message))?;
    if !value.is_object() {
        return Err(Error::new(Code::InvalidJson, "The body must be a JSON object."));
    }
    Ok(RequestBody { raw, value: Some(value), refusal: None })
}

/// Reads the bytes of a body of at most `most` bytes; the inner error is for a larger one.
///
/// # Errors
/// [`Code::InvalidJson`] for a body that is cut off.
pub async fn read_bytes(
    req: &mut Request,
    most: usize,
    code: Code,
) -> Result<std::result::Result<Bytes, Error>> {
    let body = req.take_body();
    let Collected { bytes, whole } = collect(body, content_length(req.headers()), most).await?;
    if !whole {
        mark_unread(req);
    }
    Ok(bytes.ok_or_else(|| {
        let message = format!("The body is larger than {most} bytes.");
        let limit = Some(most as u64);
        Error::new(code, message)
            .with_details(RefusalDetails { limit, ..RefusalDetails::default() })
    }))
}

fn content_length(headers: &HeaderMap) -> usize {
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    length.unwrap_or(0)
}

/// The bytes that were read of a body.
struct Collected {
    /// The whole body, if it is not too large.
    bytes: Option<Bytes>,
    /// True if the body was read to its end.
    whole: bool,
}

async fn collect(body: ReqBody, announced: usize, most: usize) -> Result<Collected> {
    if announced > MAX_DRAIN {
        return Ok(Collected { bytes: None, whole: false });
    }
    let mut pieces = std::pin::pin!(chunks(body));
    let (mut kept, mut seen) = (BytesMut::with_capacity(announced.min(most)), 0_usize);
    while let Some(piece) = pieces.next().await {
        let piece =
            piece.map_err(|_| Error::new(Code::InvalidJson, "The body ended before its end."))?;
        seen += piece.len();
        if seen <= most {
            kept.extend_from_slice(&piece);
        } else if seen > MAX_DRAIN {
            return Ok(Collected { bytes: None, whole: false });
        }
    }
    let bytes = (seen <= most).then(|| kept.freeze());
    Ok(Collected { bytes, whole: true })
}

/// Returns the data of a body as a stream of chunks.
pub fn chunks(body: ReqBody) -> impl Stream<Item = std::result::Result<Bytes, String>> + Send {
    body.filter_map(|frame| async {
        match frame {
            Ok(frame) => frame.into_data().ok().map(Ok),
            Err(error) => Some(Err(error.to_string())),
        }
    })
}

/// Marks a request whose body was not read to its end, so that its connection cannot be reused.
#[derive(Debug, Clone, Copy)]
struct Unread;

/// Marks a request whose body was not read to its end.
pub fn mark_unread(req: &mut Request) {
    req.extensions_mut().insert(Unread);
}

/// Reads and drops data for a limited time, so that the sender comes to read the reply. Returns true if the stream
/// ended.
pub async fn drain<E>(
    pieces: impl Stream<Item = std::result::Result<Bytes, E>> + Unpin,
    most: usize,
) -> bool {
    let mut pieces = pieces;
    let all = async {
        let mut seen = 0;
        while let Some(piece) = pieces.next().await {
            let Ok(piece) = piece else { return false };
            seen += piece.len();
            if seen > most {
                return false;
            }
        }
        true
    };
    // A client slower than this is not waiting for the reply either.
    tokio::time::timeout(DRAIN_TIMEOUT, all).await.unwrap_or(false)
}

/// Reads and drops up to 64 KiB of a body that no handler has read. If more is left, the reply has `Connection: close`,
/// so that the client does not send its next request on a closed connection.
pub async fn drain_unread(req: &mut Request, res: &mut Response) {
    let body = req.take_body();
    let untouched = !body.is_end_stream();
    // A client that waits for "100 Continue" takes the reply as a refusal of its body.
    let waits = req.headers().contains_key(EXPECT);
    let whole = !untouched || (!waits && drain(Box::pin(chunks(body)), MAX_UNREAD).await);
    let is_unread = !whole || req.extensions().get::<Unread>().is_some();
    if is_unread && req.version() <= Version::HTTP_11 {
        res.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
}

fn unsupported_type(headers: &HeaderMap) -> Option<Error> {
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

    async fn read(req: &mut Request) -> Result<RequestBody> {
        super::read(req, LARGEST, Code::PayloadTooLarge).await
    }

    fn post() -> RequestBuilder {
        TestClient::post("http://localhost/").add_header("content-type", "application/json", true)
    }

    #[tokio::test]
    async fn a_json_object_is_read_and_nothing_at_all_too() {
        let some = read(&mut post().body("{\"a\": 1}").build()).await.unwrap();
        assert_eq!(some.value.unwrap()["a"], 1);
        assert_eq!(&some.raw[..], b"{\"a\": 1}");
        let none = read(&mut TestClient::post("http://localhost/").build()).await.unwrap();
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
