//! The image store beside the instance.

use serde_json::json;

use super::state::Change;
use super::{Cx, access};
use crate::multipart;
use crate::network::Medium;
use crate::picture;
use crate::random::{self, BASE62};
use crate::received_file::ReceivedFile;
use crate::reply::{HandlerResult, Reply};

/// The largest file of the store, in bytes.
const BYTES_MAX: u64 = 10 << 20;

/// `POST /pictrs/image`: a form with `images[]`.
pub(super) fn upload(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let refused = |status: u16, why: &str| Reply::json(status, &json!({ "msg": why }));
    let content_type = cx.call.header("content-type").unwrap_or_default();
    let parts = multipart::parse(content_type, &cx.call.body).unwrap_or_default();
    let images: Vec<_> = parts.iter().filter(|part| part.name == "images[]").collect();
    if images.is_empty() {
        return Err(refused(400, "No field for images[]"));
    }
    let mut files = Vec::new();
    for image in images {
        let found = ReceivedFile::of(&image.bytes);
        if found.size > BYTES_MAX {
            return Err(refused(413, "File too large"));
        }
        let mime =
            picture::sniff(&found.head).ok_or_else(|| refused(400, "Unsupported file type"))?;
        let end = mime.split('/').next_back().unwrap_or("bin").replace("jpeg", "jpg");
        let file = format!("{}.{end}", random::text(BASE62, 32).to_lowercase());
        let url = format!("{}/pictrs/image/{file}", cx.sim.base());
        let medium = Medium {
            url: Some(url),
            size: Some(found.size),
            mime: mime.into(),
            alt: None,
            sha256: Some(found.sha256),
        };
        cx.sim.apply(&account, Change::Image { file: file.clone(), medium });
        files.push(json!({"file": file, "delete_token": random::text(BASE62, 10)}));
    }
    Ok(Reply::json(201, &json!({"msg": "ok", "files": files})))
}

/// `GET /pictrs/image/{file}`: the bytes are not stored, so an empty picture is returned.
pub(super) fn get(cx: &Cx) -> HandlerResult {
    let file = cx.call.segment(2).to_owned();
    let known =
        cx.sim.all().iter().any(|account| account.read(|state| state.images.contains_key(&file)));
    if !known {
        return Err(Reply::json(404, &json!({"msg": "Requested a file that doesn't exist"})));
    }
    Ok(Reply::raw(200, "<svg xmlns=\"http://www.w3.org/2000/svg\"/>".into()))
}
