//! The media library.

use serde_json::{Value, json};

use super::state::{Change, Upload};
use super::{Cx, representations, rest, slug};
use crate::env::utc;
use crate::multipart::{self, Part};
use crate::network::Medium;
use crate::page::escape;
use crate::picture;
use crate::received_file::ReceivedFile;
use crate::reply::{HandlerResult, Reply};

/// The types that a site accepts, by file extension.
const TYPES: [(&str, &str); 17] = [
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("png", "image/png"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("avif", "image/avif"),
    ("heic", "image/heic"),
    ("mp4", "video/mp4"),
    ("m4v", "video/mp4"),
    ("mov", "video/quicktime"),
    ("webm", "video/webm"),
    ("mp3", "audio/mpeg"),
    ("m4a", "audio/mpeg"),
    ("ogg", "audio/ogg"),
    ("wav", "audio/wav"),
    ("pdf", "application/pdf"),
    ("txt", "text/plain"),
];

/// `POST /media`: raw bytes with a name in `Content-Disposition`, or a form with `file`.
pub(super) fn create(cx: &Cx) -> HandlerResult {
    let account = rest::editor(
        cx,
        "rest_cannot_create",
        "Sorry, you are not allowed to create posts as this user.",
    )?;
    let file = file(cx)?;
    let name = file.filename.clone().unwrap_or_default();
    let mime = allowed(&name, &file)?;
    let found = ReceivedFile::of(&file.bytes);
    let size = picture::picture(&found.head).map(|picture| (picture.width, picture.height));
    let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem).to_owned();
    let author = rest::user_id(&account.identity);
    let (base, now_ms) = (cx.sim.base(), cx.now_ms());
    let params =
        if cx.call.media_type() == "multipart/form-data" { Some(rest::params(cx)?) } else { None };
    let param = |name: &str| params.as_ref().and_then(|params| params.filled(name));
    let medium = Medium {
        url: None,
        size: Some(found.size),
        mime: mime.into(),
        alt: param("alt_text"),
        sha256: Some(found.sha256),
    };
    let shown = cx.sim.change(&account, |state| {
        let id = state.last_id + 1;
        let name = free_name(&name, |name| state.media.values().any(|upload| upload.name == name));
        let title = param("title").unwrap_or(stem);
        let caption = param("caption").unwrap_or_default();
        let upload = Upload { id, author, at_ms: now_ms, name, title, caption, medium, size };
        let shown = view(&upload, &base, true);
        Ok((Change::Upload(Box::new(upload)), shown))
    })?;
    let link = format!("{base}/wp-json/wp/v2/media/{}", shown["id"]);
    Ok(Reply::json(201, &shown).with("location", link))
}

fn file(cx: &Cx) -> Result<Part, Reply> {
    let content_type = cx.call.header("content-type").unwrap_or_default();
    if cx.call.media_type() == "multipart/form-data" {
        let parts = multipart::parse(content_type, &cx.call.body).unwrap_or_default();
        let file = parts.into_iter().find(|part| part.name == "file" && part.filename.is_some());
        return file.ok_or_else(|| rest::failure(400, "rest_upload_no_data", "No data supplied."));
    }
    if cx.call.body.is_empty() {
        return Err(rest::failure(400, "rest_upload_no_data", "No data supplied."));
    }
    if content_type.is_empty() {
        return Err(rest::failure(400, "rest_upload_no_content_type", "No Content-Type supplied."));
    }
    let disposition = cx.call.header("content-disposition");
    let disposition = disposition.ok_or_else(|| {
        rest::failure(400, "rest_upload_no_content_disposition", "No Content-Disposition supplied.")
    })?;
    let invalid = || {
        let message = "Invalid Content-Disposition supplied. Content-Disposition needs to be formatted as `attachment; filename=\"image.png\"` or similar.";
        rest::failure(400, "rest_upload_invalid_disposition", message)
    };
    let name = multipart::parameter(disposition, "filename")
        .filter(|name| !name.is_empty())
        .ok_or_else(invalid)?;
    Ok(Part {
        name: "file".into(),
        filename: Some(name),
        mime: cx.call.media_type(),
        bytes: cx.call.body.clone(),
    })
}

/// Returns the type of a file by its name, if the site accepts it and the bytes match.
fn allowed(name: &str, file: &Part) -> Result<&'static str, Reply> {
    let end = name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).unwrap_or_default();
    let by_name = TYPES.iter().find(|(known, _)| *known == end).map(|(_, mime)| *mime);
    let by_bytes = picture::sniff(&file.bytes);
    let agree =
        |mime: &&str| !mime.starts_with("image/") || by_bytes.is_none_or(|bytes| bytes == *mime);
    let refused = || {
        rest::failure(
            500,
            "rest_upload_sideload_error",
            "Sorry, you are not allowed to upload this file type.",
        )
    };
    by_name.filter(agree).ok_or_else(refused)
}

/// Returns a free name: `name.png`, or `name-1.png` and so on.
fn free_name(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
    let stem = slug::sanitized(stem);
    let first = format!("{stem}.{end}");
    if !taken(&first) {
        return first;
    }
    (1_u64..).map(|n| format!("{stem}-{n}.{end}")).find(|name| !taken(name)).unwrap_or(first)
}

/// `POST /media/{id}`: texts only.
pub(super) fn update(cx: &Cx) -> HandlerResult {
    let account =
        rest::editor(cx, "rest_cannot_edit", "Sorry, you are not allowed to edit this post.")?;
    let params = rest::params(cx)?;
    let id = rest::id(cx).ok_or_else(unknown)?;
    let base = cx.sim.base();
    let shown = cx.sim.change(&account, |state| {
        let mut upload = state.media.get(&id).cloned().ok_or_else(unknown)?;
        upload.medium.alt = params.text("alt_text").or(upload.medium.alt);
        upload.title = params.text("title").unwrap_or(upload.title);
        upload.caption = params.text("caption").unwrap_or(upload.caption);
        let shown = view(&upload, &base, true);
        Ok((Change::Upload(Box::new(upload)), shown))
    })?;
    Ok(Reply::ok(&shown))
}

/// `GET /media/{id}`
pub(super) fn get(cx: &Cx) -> HandlerResult {
    let raw = rest::edits(cx)?;
    let base = cx.sim.base();
    let found = rest::id(cx).and_then(|id| {
        cx.sim.read_shared(|state| state.media.get(&id).map(|upload| view(upload, &base, raw)))
    });
    Ok(Reply::ok(&rest::fields(&cx.call, found.ok_or_else(unknown)?)))
}

/// `GET /media`, newest first.
pub(super) fn list(cx: &Cx) -> HandlerResult {
    let raw = rest::edits(cx)?;
    let page = rest::Page::read(&cx.call)?;
    let base = cx.sim.base();
    let search = cx.call.query_value("search").unwrap_or_default().to_lowercase();
    let fits = |upload: &&Upload| {
        upload.title.to_lowercase().contains(&search) || upload.name.contains(&search)
    };
    let (all, items) = cx.sim.read_shared(|state| {
        let found: Vec<_> = state.media.values().rev().filter(fits).collect();
        let items = found
            .iter()
            .skip(page.skip)
            .take(page.take)
            .map(|upload| view(upload, &base, raw))
            .collect();
        (found.len(), items)
    });
    page.reply(&cx.call, all, items)
}

fn unknown() -> Reply {
    rest::failure(404, "rest_post_invalid_id", "Invalid post ID.")
}

fn view(upload: &Upload, base: &str, raw: bool) -> Value {
    let month = utc(upload.at_ms).format("%Y/%m");
    let url = format!("{base}/wp-content/uploads/{month}/{}", upload.name);
    let kind = if upload.medium.mime.starts_with("image/") { "image" } else { "file" };
    let (width, height) = upload.size.unwrap_or_default();
    json!({
        "id": upload.id,
        "date": representations::date(upload.at_ms),
        "date_gmt": representations::date(upload.at_ms),
        "slug": slug::sanitized(&upload.title),
        "status": "inherit",
        "type": "attachment",
        "link": url,
        "title": representations::text(&upload.title, escape(&upload.title), raw),
        "caption": representations::text(&upload.caption, escape(&upload.caption), raw),
        "author": upload.author,
        "alt_text": upload.medium.alt.as_deref().unwrap_or_default(),
        "media_type": kind,
        "mime_type": upload.medium.mime,
        "media_details": {"width": width, "height": height, "file": format!("{month}/{}", upload.name), "filesize": upload.medium.size, "sizes": {}},
        "post": null,
        "source_url": url,
    })
}
