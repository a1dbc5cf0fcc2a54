//! Attachments of a post: images, a video, a link card, another post, and their blobs.

use serde_json::{Map, Value};

use super::cid;
use super::lexicon::{Check, is_language, object, string, strong_ref, uri};

const IMAGES: usize = 4;
const GALLERY: usize = 10;
const IMAGE_BYTES: u64 = 2_000_000;
const THUMB_BYTES: u64 = 1_000_000;
const VIDEO_BYTES: u64 = 300_000_000;
const CAPTION_BYTES: u64 = 20_000;
const CAPTIONS: usize = 20;

/// A blob that a record references, with the size limit and the accepted types of its field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BlobRef {
    pub cid: String,
    pub mime: String,
    pub size: u64,
    pub most: u64,
    pub accepts: &'static str,
}

/// Checks an embed of a post.
pub(super) fn check(embed: &Value) -> Check {
    at(embed, "Record/embed")
}

fn at(embed: &Value, place: &str) -> Check {
    let map = object(embed, place)?;
    match string(map, place, "$type")? {
        "app.bsky.embed.images" => images(map, place, "images", IMAGES),
        "app.bsky.embed.gallery" => images(map, place, "items", GALLERY),
        "app.bsky.embed.external" => external(map, place),
        "app.bsky.embed.video" => video(map, place),
        "app.bsky.embed.record" => {
            strong_ref(part(map, place, "record")?, &format!("{place}/record"))
        }
        "app.bsky.embed.recordWithMedia" => {
            let record = object(part(map, place, "record")?, &format!("{place}/record"))?;
            let inner = format!("{place}/record/record");
            strong_ref(part(record, &format!("{place}/record"), "record")?, &inner)?;
            let media = part(map, place, "media")?;
            match media.get("$type").and_then(Value::as_str) {
                Some("app.bsky.embed.record" | "app.bsky.embed.recordWithMedia") => {
                    Err(format!("{place}/media must not be a record"))
                }
                _ => at(media, &format!("{place}/media")),
            }
        }
        // The union is open: a PDS accepts unknown kinds.
        _ => Ok(()),
    }
}

fn part<'a>(map: &'a Map<String, Value>, place: &str, name: &str) -> Result<&'a Value, String> {
    map.get(name).ok_or_else(|| format!("{place} must have the property \"{name}\""))
}

fn images(map: &Map<String, Value>, place: &str, name: &str, most: usize) -> Check {
    let place = format!("{place}/{name}");
    let items = map
        .get(name)
        .and_then(Value::as_array)
        .ok_or_else(|| format!("{place} must be an array"))?;
    if items.len() > most {
        return Err(format!("{place} must not have more than {most} elements"));
    }
    for (n, item) in items.iter().enumerate() {
        let place = format!("{place}/{n}");
        let item = object(item, &place)?;
        string(item, &place, "alt")?;
        blob(part(item, &place, "image")?, &format!("{place}/image"))?;
        aspect_ratio(item, &place)?;
    }
    Ok(())
}

fn external(map: &Map<String, Value>, place: &str) -> Check {
    let place = format!("{place}/external");
    let card = object(map.get("external").unwrap_or(&Value::Null), &place)?;
    uri(string(card, &place, "uri")?, &format!("{place}/uri"))?;
    string(card, &place, "title")?;
    string(card, &place, "description")?;
    card.get("thumb").map_or(Ok(()), |thumb| blob(thumb, &format!("{place}/thumb")))
}

fn video(map: &Map<String, Value>, place: &str) -> Check {
    blob(part(map, place, "video")?, &format!("{place}/video"))?;
    if map.get("alt").is_some_and(|alt| !alt.is_string()) {
        return Err(format!("{place}/alt must be a string"));
    }
    captions(map, &format!("{place}/captions"))?;
    aspect_ratio(map, place)
}

fn captions(map: &Map<String, Value>, place: &str) -> Check {
    let Some(captions) = map.get("captions") else { return Ok(()) };
    let captions = captions.as_array().ok_or_else(|| format!("{place} must be an array"))?;
    if captions.len() > CAPTIONS {
        return Err(format!("{place} must not have more than {CAPTIONS} elements"));
    }
    for (n, caption) in captions.iter().enumerate() {
        let place = format!("{place}/{n}");
        let caption = object(caption, &place)?;
        if !is_language(string(caption, &place, "lang")?) {
            return Err(format!("{place}/lang must be a well-formed BCP 47 language tag"));
        }
        blob(part(caption, &place, "file")?, &format!("{place}/file"))?;
    }
    Ok(())
}

fn aspect_ratio(map: &Map<String, Value>, place: &str) -> Check {
    let Some(ratio) = map.get("aspectRatio") else {
        return Ok(());
    };
    for side in ["width", "height"] {
        if ratio.get(side).and_then(Value::as_u64).is_none_or(|n| n < 1) {
            return Err(format!("{place}/aspectRatio/{side} can not be less than 1"));
        }
    }
    Ok(())
}

fn blob(value: &Value, place: &str) -> Check {
    let known = value["$type"] == "blob" && value["mimeType"].is_string() && value["size"].is_u64();
    if known && value["ref"]["$link"].as_str().is_some_and(cid::is_valid) {
        return Ok(());
    }
    Err(format!("{place} should be a blob ref"))
}

/// Returns every blob that a record references.
pub(super) fn named(record: &Value) -> Vec<BlobRef> {
    let mut found = Vec::new();
    collect(record, "", &mut found);
    found
}

fn collect(value: &Value, field: &str, found: &mut Vec<BlobRef>) {
    match value {
        Value::Object(map) if value["$type"] == "blob" => {
            let (most, accepts) = match field {
                "image" => (IMAGE_BYTES, "image/*"),
                "thumb" => (THUMB_BYTES, "image/*"),
                "video" => (VIDEO_BYTES, "video/mp4"),
                "file" => (CAPTION_BYTES, "text/vtt"),
                _ => (u64::MAX, "*/*"),
            };
            let text = |value: Option<&Value>| {
                value.and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            let cid = text(map.get("ref").and_then(|r| r.get("$link")));
            let size = map.get("size").and_then(Value::as_u64).unwrap_or_default();
            found.push(BlobRef { cid, mime: text(map.get("mimeType")), size, most, accepts });
        }
        Value::Object(map) => map.iter().for_each(|(name, value)| collect(value, name, found)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, field, found)),
        _ => {}
    }
}

/// Returns true if a field accepts a type.
pub(super) fn accepted(mime: &str, accepts: &str) -> bool {
    match accepts.strip_suffix('*') {
        Some(prefix) => accepts == "*/*" || mime.starts_with(prefix),
        None => mime == accepts,
    }
}
