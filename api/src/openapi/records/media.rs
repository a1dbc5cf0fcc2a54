//! Records about files.

use serde_json::Value;

use crate::openapi::kinds::{choice, maybe, number, object, record, text, time, uuid};

/// All of them, by name.
pub fn all() -> Vec<(&'static str, Value)> {
    vec![("Media", media()), ("SignedUpload", signed_upload()), ("DropSession", drop_session())]
}

/// A file of a post.
pub fn of_post() -> Value {
    record([
        ("url", text()),
        ("asset_id", maybe(uuid())),
        ("mime", maybe(text())),
        ("width", maybe(number())),
        ("height", maybe(number())),
        ("duration_ms", maybe(number())),
        ("placeholder", maybe(text())),
        ("analysis", choice(&["pending", "ready", "failed"])),
    ])
}

fn media() -> Value {
    record([
        ("id", uuid()),
        ("asset_id", maybe(uuid())),
        ("url", text()),
        ("public_url", text()),
        ("filename", text()),
        ("path", text()),
        ("mime", maybe(text())),
        ("bytes", maybe(number())),
        ("width", maybe(number())),
        ("height", maybe(number())),
        ("drop_session_id", maybe(uuid())),
        ("created_at", time()),
    ])
}

fn signed_upload() -> Value {
    record([
        ("upload_url", text()),
        ("method", choice(&["PUT"])),
        ("headers", object()),
        ("public_url", text()),
        ("path", text()),
        ("filename", text()),
        ("expires_at", time()),
        ("max_size", number()),
    ])
}

fn drop_session() -> Value {
    record([
        ("session_id", uuid()),
        ("drop_url", text()),
        ("expires_at", time()),
        ("max_bytes", number()),
        ("max_files", number()),
        ("instructions", text()),
    ])
}
