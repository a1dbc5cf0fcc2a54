//! Uploads of blobs to the PDS.

use serde_json::{Value, json};

use super::state::{Blob, Change};
use super::{Cx, cid, failure, invalid, session};
use crate::picture;
use crate::reply::{HandlerResult, Reply};

/// The PDS's limit, in bytes.
pub(super) const BLOB_MAX: usize = 50 << 20;

/// `com.atproto.repo.uploadBlob`
pub(super) fn upload(cx: &Cx) -> HandlerResult {
    let account = session::access(cx)?;
    let bytes = &cx.call.body;
    let said = cx.call.media_type();
    if said.is_empty() {
        return Err(invalid("Request encoding (Content-Type) required but not provided"));
    }
    if bytes.is_empty() {
        return Err(invalid("A request body was expected but none was provided"));
    }
    if bytes.len() > BLOB_MAX {
        return Err(failure(413, "PayloadTooLarge", "request entity too large"));
    }
    // As the PDS does: the type of the bytes takes precedence over the client's.
    let mime = picture::sniff(bytes).map_or(said, str::to_owned);
    let blob = Blob { mime, size: bytes.len() as u64, ready_ms: 0 };
    let cid = cid::of_bytes(bytes);
    let shown = reference(&cid, &blob);
    cx.sim.apply(&account, Change::Blob { cid, blob });
    Ok(Reply::ok(&json!({"blob": shown})))
}

/// Returns a blob as records reference it.
pub(super) fn reference(cid: &str, blob: &Blob) -> Value {
    json!({"$type": "blob", "ref": {"$link": cid}, "mimeType": blob.mime, "size": blob.size})
}
