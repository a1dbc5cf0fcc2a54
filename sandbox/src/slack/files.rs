//! Files: an upload address is requested, the bytes are sent there, and one call creates a message with them.

use serde_json::{Value, json};

use super::state::{Change, File, Message};
use super::{Cx, ID, access, blocks, message, representations};
use crate::multipart;
use crate::network::Medium;
use crate::picture;
use crate::random::{self, BASE62};
use crate::received_file::ReceivedFile;
use crate::reply::{HandlerResult, Reply};

/// `files.getUploadURLExternal`
pub(super) fn place(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let arguments = access::arguments(cx)?;
    let name = arguments.filled("filename").ok_or_else(|| access::failure("invalid_arguments"))?;
    let length = arguments.integer("length").and_then(|length| u64::try_from(length).ok());
    let length = length.filter(|length| *length > 0);
    let length = length
        .ok_or_else(|| access::detailed("invalid_arguments", "length must be greater than 0"))?;
    let id = format!("F0{}", random::text(ID, 10));
    let channel = &account.identity.remote_id;
    let url = format!("{}/upload/v1/{channel}.{id}.{}", cx.sim.base(), random::text(BASE62, 24));
    let alt = arguments.filled("alt_txt").or_else(|| arguments.filled("alt_text"));
    let file = File { id: id.clone(), title: name.clone(), name, length, alt, ..File::default() };
    cx.sim.apply(&account, Change::File(Box::new(file)));
    Ok(access::success(json!({"upload_url": url, "file_id": id})))
}

/// `POST` of the bytes to the upload address: raw, or as a form.
pub(super) fn upload(cx: &Cx) -> HandlerResult {
    let refused = |status: u16, why: &str| Reply::raw(status, why.to_owned());
    let account = cx.account.clone().ok_or_else(|| refused(404, "no such upload"))?;
    let id = cx.call.segment(2).split('.').nth(1).unwrap_or_default().to_owned();
    let content_type = cx.call.header("content-type").unwrap_or_default();
    let bytes = match cx.call.media_type().as_str() {
        "multipart/form-data" => {
            let parts = multipart::parse(content_type, &cx.call.body).unwrap_or_default();
            let first = parts.into_iter().find(|part| part.filename.is_some());
            first.map(|part| part.bytes).ok_or_else(|| refused(400, "no file"))?
        }
        _ => cx.call.body.clone(),
    };
    let found = ReceivedFile::of(&bytes);
    let mime = picture::sniff(&found.head).unwrap_or("application/octet-stream");
    cx.sim.change(&account, |state| {
        let file = state.files.get(&id).cloned().ok_or_else(|| refused(404, "no such upload"))?;
        if found.size != file.length {
            return Err(refused(400, "the size does not match"));
        }
        let medium = Medium {
            url: None,
            size: Some(found.size),
            mime: mime.to_owned(),
            alt: file.alt.clone(),
            sha256: Some(found.sha256.clone()),
        };
        Ok((Change::File(Box::new(File { medium: Some(medium), ..file })), ()))
    })?;
    Ok(Reply::raw(200, format!("OK - {}", found.size)))
}

/// `files.completeUploadExternal`: creates one message with all files.
pub(super) fn complete(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let arguments = access::arguments(cx)?;
    let channel = arguments.filled("channel_id");
    let Some(Ok(Value::Array(files))) = arguments.json("files") else {
        return Err(access::failure("invalid_arguments"));
    };
    access::in_channel(&account, channel)?;
    if !account.read(|state| state.joined) {
        return Err(access::failure("not_in_channel"));
    }
    message::count_message(cx, &account)?;
    let blocks = blocks::read(arguments.json("blocks"))?;
    let (ts, at_ms) = (cx.unique_time(), cx.now_ms() + cx.sim.env.processing_ms());
    let fault = account.take_played();
    let most = fault.as_ref().and_then(|fault| fault.effect);
    let most = most.map_or(usize::MAX, |most| most as usize);
    if most == 0 {
        return Err(access::failure("internal_error"));
    }
    let shown = cx.sim.change(&account, |state| {
        let mut shown = Vec::new();
        let (mut ids, mut titles) = (Vec::new(), Vec::new());
        for given in files.iter().take(most) {
            let id = given["id"].as_str().unwrap_or_default();
            let file =
                state.files.get(id).filter(|file| file.medium.is_some() && file.shared.is_none());
            let file = file.ok_or_else(|| access::failure("file_not_found"))?;
            let title = given["title"].as_str().unwrap_or(&file.name).to_owned();
            shown.push(json!({"id": id, "title": title}));
            ids.push(id.to_owned());
            titles.push(title);
        }
        if ids.is_empty() {
            return Err(access::failure("invalid_arguments"));
        }
        let text = message::plain(&arguments.text("initial_comment").unwrap_or_default());
        // Beside a comment, the blocks are ignored.
        let blocks = if text.is_empty() { blocks.clone() } else { Vec::new() };
        let thread = message::thread(state, &arguments)?;
        let message =
            Box::new(Message { ts, text, blocks, files: ids, thread, ..Message::default() });
        Ok((Change::Message { message, at_ms, titles }, shown))
    })?;
    if fault.is_some() && most < files.len() {
        return Err(access::failure("internal_error"));
    }
    Ok(access::success(json!({ "files": shown })))
}

/// `files.info`: shares appear a moment after the message was created.
pub(super) fn info(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let id = access::arguments(cx)?.filled("file").unwrap_or_default();
    let file = account.read(|state| state.files.get(&id).cloned());
    let file = file.ok_or_else(|| access::failure("file_not_found"))?;
    let shared = file.shared.filter(|(_, at_ms)| *at_ms <= cx.now_ms());
    let mut shares = json!({});
    if let Some((ts, _)) = shared {
        shares["public"] =
            json!({ account.identity.remote_id.as_str(): [{"ts": representations::ts(ts)}] });
    }
    let mut shown = representations::file(&file);
    shown["shares"] = shares;
    Ok(access::success(json!({ "file": shown })))
}
