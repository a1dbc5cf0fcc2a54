//! The calls for a post, and the content of each. Pure.

use serde_json::{Map, Value, json};

use super::{
    PHOTO_BYTES_MAX, VIDEO_BYTES_MAX,
    settings::{Button, Poll, Settings},
};
use crate::{Draft, Media};

/// The step that sends an album, or what is left of one.
pub(super) const ALBUM: &str = "send_album";

/// One call that sends something.
#[derive(Debug)]
pub(super) struct Call<'a> {
    /// Name in the ledger.
    pub step: &'static str,
    /// The API's method.
    pub method: &'static str,
    /// Its parameters, without the chat.
    pub params: Map<String, Value>,
    /// Files that are sent with it.
    pub files: Vec<File<'a>>,
}

/// A file of a call.
#[derive(Debug)]
pub(super) struct File<'a> {
    /// The name of the form field.
    pub field: String,
    pub media: &'a Media,
    /// The most bytes that Telegram accepts.
    pub bytes_max: u64,
}

/// Returns all calls of the post, in order; never empty. The first `gone` files of its album are out already.
pub(super) fn calls<'a>(draft: &'a Draft, settings: &Settings, gone: usize) -> Vec<Call<'a>> {
    let caption = draft.caption.trim();
    let buttons = settings.inline_buttons.as_slice();
    let mut calls = Vec::new();
    match draft.media.as_slice() {
        [] if caption.is_empty() => {}
        [] => calls.push(text("send_message", caption, settings)),
        [media] => calls.push(single(media, caption, settings)),
        both if settings.is_live_photo => calls.push(live_photo(both, caption, settings)),
        // An album cannot have buttons: they go below the caption, in a separate message.
        album if !buttons.is_empty() => {
            calls.push(send_album(album, "", settings, gone));
            calls.push(text("send_caption", caption, settings));
        }
        album => calls.push(send_album(album, caption, settings, gone)),
    }
    if let Some(last) = calls.last_mut()
        && last.step != ALBUM
    {
        add_buttons(last, buttons);
    }
    if let Some(poll) = &settings.poll {
        let mut call = send_poll(poll);
        match calls.last_mut() {
            None => add_buttons(&mut call, buttons),
            Some(text) if text.step == "send_message" => text.step = "send_caption",
            Some(_) => {}
        }
        calls.push(call);
    }
    calls
}

fn text(step: &'static str, caption: &str, settings: &Settings) -> Call<'static> {
    let mut params = Map::new();
    add_text(&mut params, "text", caption, settings);
    Call { step, method: "sendMessage", params, files: Vec::new() }
}

fn single<'a>(media: &'a Media, caption: &str, settings: &Settings) -> Call<'a> {
    let (step, method, field) = match media.mime.as_str() {
        "image/gif" => ("send_animation", "sendAnimation", "animation"),
        _ if media.is_video() => ("send_video", "sendVideo", "video"),
        _ => ("send_photo", "sendPhoto", "photo"),
    };
    let mut params = Map::new();
    add_text(&mut params, "caption", caption, settings);
    if media.is_video() {
        add_video(&mut params, media);
        if let Some(cover) = &settings.video_cover_url {
            params.insert("cover".to_owned(), json!(cover));
        }
        if let Some(start) = settings.start_timestamp {
            params.insert("start_timestamp".to_owned(), json!(start));
        }
    }
    let mut call = Call { step, method, params, files: Vec::new() };
    if let Some(address) = attach(&mut call, field.to_owned(), media) {
        call.params.insert(field.to_owned(), json!(address));
    }
    call
}

/// Returns the call for a live photo: a photo and its short video. Telegram accepts both only as uploads.
fn live_photo<'a>(both: &'a [Media], caption: &str, settings: &Settings) -> Call<'a> {
    let mut params = Map::new();
    add_text(&mut params, "caption", caption, settings);
    let file = |media: &'a Media| {
        let field = if media.is_video() { "live_photo" } else { "photo" };
        File { field: field.to_owned(), media, bytes_max: PHOTO_BYTES_MAX }
    };
    let files = both.iter().map(file).collect();
    Call { step: "send_live_photo", method: "sendLivePhoto", params, files }
}

/// Returns the call that sends an album, or what is left of one. The caption is that of its first file.
fn send_album<'a>(album: &'a [Media], caption: &str, settings: &Settings, gone: usize) -> Call<'a> {
    let (step, method) = (ALBUM, "sendMediaGroup");
    let caption = if gone == 0 { caption } else { "" };
    let album = album.get(gone..).unwrap_or_default();
    if let [last] = album {
        return Call { step, ..single(last, caption, settings) };
    }
    let mut call = Call { step, method, params: Map::new(), files: Vec::new() };
    let mut items = Vec::with_capacity(album.len());
    for (index, media) in album.iter().enumerate() {
        let mut item = Map::new();
        item.insert("type".to_owned(), json!(if media.is_video() { "video" } else { "photo" }));
        let field = format!("file{index}");
        let attached = format!("attach://{field}");
        let address = attach(&mut call, field, media).unwrap_or(attached);
        item.insert("media".to_owned(), json!(address));
        if media.is_video() {
            add_video(&mut item, media);
        }
        if index == 0 {
            add_text(&mut item, "caption", caption, settings);
        }
        items.push(Value::Object(item));
    }
    call.params.insert("media".to_owned(), Value::Array(items));
    call
}

fn send_poll(poll: &Poll) -> Call<'static> {
    let options: Vec<Value> = poll.options.iter().map(|text| json!({ "text": text })).collect();
    let mut params = Map::new();
    params.insert("question".to_owned(), json!(poll.question));
    params.insert("options".to_owned(), Value::Array(options));
    let flags = [
        ("is_anonymous", poll.is_anonymous),
        ("allows_multiple_answers", poll.allows_multiple_answers),
    ];
    for (name, value) in flags {
        if let Some(value) = value {
            params.insert(name.to_owned(), json!(value));
        }
    }
    Call { step: "send_poll", method: "sendPoll", params, files: Vec::new() }
}

/// Attaches the bytes as an upload, so that the store can be private. Without bytes it returns the address, which
/// Telegram fetches.
fn attach<'a>(call: &mut Call<'a>, field: String, media: &'a Media) -> Option<String> {
    if media.source.is_none() {
        return Some(media.url.clone());
    }
    let bytes_max = if media.is_video() { VIDEO_BYTES_MAX } else { PHOTO_BYTES_MAX };
    call.files.push(File { field, media, bytes_max });
    None
}

fn add_text(params: &mut Map<String, Value>, field: &str, caption: &str, settings: &Settings) {
    if caption.is_empty() {
        return;
    }
    params.insert(field.to_owned(), json!(caption));
    if let Some(mode) = settings.parse_mode {
        params.insert("parse_mode".to_owned(), json!(mode));
    }
}

fn add_video(params: &mut Map<String, Value>, media: &Media) {
    params.insert("supports_streaming".to_owned(), json!(true));
    if let Some((width, height)) = media.dimensions {
        params.insert("width".to_owned(), json!(width));
        params.insert("height".to_owned(), json!(height));
    }
    if let Some(duration) = media.duration_ms {
        params.insert("duration".to_owned(), json!(duration / 1_000));
    }
}

fn add_buttons(call: &mut Call<'_>, buttons: &[Button]) {
    if buttons.is_empty() {
        return;
    }
    let rows: Vec<Value> = buttons.iter().map(|button| json!([button])).collect();
    call.params.insert("reply_markup".to_owned(), json!({ "inline_keyboard": rows }));
}
