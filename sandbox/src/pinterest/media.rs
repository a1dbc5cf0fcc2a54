//! Videos: registering, uploading, and the processing status.

use std::collections::BTreeMap;

use serde_json::json;

use super::state::{Change, Upload};
use super::{Cx, access, failure};
use crate::multipart;
use crate::network::Medium;
use crate::random::{self, BASE62};
use crate::received_file::ReceivedFile;
use crate::reply::{HandlerResult, Reply};
use crate::video_index::H264_OR_HEVC;

/// `POST /v5/media`
pub(super) fn register(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scopes(cx, &["pins:read", "pins:write"])?;
    let body = cx.call.json().unwrap_or_default();
    if body["media_type"] != "video" {
        return Err(failure::invalid("media_type must be video"));
    }
    let id = super::id(cx);
    let names = ["x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-signature", "policy"];
    let mut parameters: BTreeMap<String, String> =
        names.iter().map(|name| ((*name).to_owned(), random::text(BASE62, 24))).collect();
    parameters.insert("key".to_owned(), format!("uploads/{id}:video"));
    parameters.insert("Content-Type".to_owned(), "multipart/form-data".to_owned());
    let upload =
        Upload { id, parameters: parameters.clone(), medium: None, ready_ms: None, failed: false };
    cx.sim.apply(&account, Change::Upload(upload));
    Ok(Reply::json(
        201,
        &json!({
            "media_id": id.to_string(),
            "media_type": "video",
            "upload_url": format!("{}/upload/{}/{id}", cx.sim.base(), account.identity.remote_id),
            "upload_parameters": parameters,
        }),
    ))
}

/// `POST /upload/{user}/{media}`: a form with every parameter, the file last. The storage behind it returns XML.
pub(super) fn receive(cx: &Cx) -> HandlerResult {
    let refused = |status: u16, code: &str| {
        Reply::raw(status, format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code></Error>"))
    };
    let account = cx.sim.account(cx.call.segment(1)).ok_or_else(|| refused(403, "AccessDenied"))?;
    let content_type = cx.call.header("content-type").unwrap_or_default();
    let parts = multipart::parse(content_type, &cx.call.body)
        .ok_or_else(|| refused(400, "MalformedPOSTRequest"))?;
    let now_ms = cx.now_ms();
    cx.sim.change(&account, |state| {
        let id: Option<u64> = cx.call.segment(2).parse().ok();
        let upload = id.and_then(|id| state.uploads.get(&id));
        let upload = upload.ok_or_else(|| refused(403, "AccessDenied"))?;
        let has = |(name, value): (&String, &String)| {
            parts.iter().any(|part| part.name == *name && part.text() == *value)
        };
        if !upload.parameters.iter().all(has) {
            return Err(refused(403, "SignatureDoesNotMatch"));
        }
        let file = parts.last().filter(|part| part.name == "file");
        let file = file.ok_or_else(|| refused(400, "MissingFile"))?;
        let specimen = ReceivedFile::of(&file.bytes);
        let kind = specimen.video(H264_OR_HEVC);
        let medium = Medium {
            url: None,
            size: Some(specimen.size),
            mime: kind.unwrap_or("application/octet-stream").to_owned(),
            alt: None,
            sha256: Some(specimen.sha256),
        };
        let ready_ms = now_ms + cx.sim.env.processing_ms();
        let failed = !matches!(kind, Some("video/mp4" | "video/quicktime"));
        Ok((Change::Received { id: upload.id, medium, ready_ms, failed }, ()))
    })?;
    Ok(Reply::empty(204))
}

/// `GET /v5/media/{id}`
pub(super) fn get(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scopes(cx, &["pins:read"])?;
    let id: Option<u64> = cx.call.segment(2).parse().ok();
    let found = account.read(|state| state.uploads.get(&id?).cloned());
    let upload = found.ok_or_else(|| failure::error(404, 50, "Media not found."))?;
    let status = status(&upload, cx.now_ms());
    Ok(Reply::ok(
        &json!({"media_id": upload.id.to_string(), "media_type": "video", "status": status}),
    ))
}

/// Returns the processing status of a video.
pub(super) fn status(upload: &Upload, now_ms: i64) -> &'static str {
    match upload.ready_ms {
        None => "registered",
        Some(ready_ms) if now_ms < ready_ms => "processing",
        Some(_) if upload.failed => "failed",
        Some(_) => "succeeded",
    }
}
