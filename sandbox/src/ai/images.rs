//! Models that generate images: small grey pictures, each with its own shade and the requested aspect ratio.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{directives::PromptDirectives, error};
use crate::reply::{HandlerResult, Reply};

/// The longer side, in pixels.
const SIDE: u32 = 320;

/// `POST /v1beta/models/{model}:generateContent`.
pub(super) fn google(model: &str, body: &Value, words: &PromptDirectives) -> HandlerResult {
    if !model.ends_with(":generateContent") {
        return Err(error(404, "There is no such method."));
    }
    let config = &body["generationConfig"]["imageConfig"];
    if !matches!(config["imageSize"].as_str(), None | Some("512" | "1K" | "2K" | "4K")) {
        return Err(error(400, "Invalid value at 'generation_config.image_config.image_size'."));
    }
    let prompt = body["contents"][0]["parts"][0]["text"].as_str().unwrap_or_default();
    if prompt.is_empty() {
        return Err(error(400, "The prompt is empty."));
    }
    if words.refuse {
        return Ok(Reply::ok(&json!({"promptFeedback": {"blockReason": "SAFETY"}})));
    }
    if words.bad_json {
        return Ok(Reply::raw(200, "{\"candidates\": [".to_owned()));
    }
    let ratio = config["aspectRatio"].as_str().unwrap_or("1:1");
    let picture = png(ratio, shade(prompt, 0));
    Ok(Reply::ok(
        &json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
            {"inlineData": {"mimeType": "image/png", "data": STANDARD.encode(picture)}}
        ]}}]}),
    ))
}

/// `POST /v1/images/generations`, and `/v1/images/edits`.
pub(super) fn xai(body: &Value, words: &PromptDirectives) -> HandlerResult {
    let prompt = body["prompt"].as_str().unwrap_or_default();
    let count = body["n"].as_u64().unwrap_or(1);
    if prompt.is_empty() || !(1..=10).contains(&count) {
        return Err(error(400, "prompt is required, and n is 1 to 10."));
    }
    if !matches!(body["resolution"].as_str(), None | Some("1k" | "2k")) {
        return Err(error(400, "resolution must be 1k or 2k."));
    }
    if words.refuse {
        return Err(error(400, "The prompt was rejected by content moderation."));
    }
    if words.bad_json {
        return Ok(Reply::raw(200, "{\"data\": [".to_owned()));
    }
    let ratio = body["aspect_ratio"].as_str().unwrap_or("1:1");
    let count = usize::try_from(count).unwrap_or(1);
    let drawn: Vec<Value> = (0..count)
        .map(|nth| json!({"b64_json": STANDARD.encode(png(ratio, shade(prompt, nth)))}))
        .collect();
    Ok(Reply::ok(&json!({ "data": drawn })))
}

pub(crate) fn shade(prompt: &str, nth: usize) -> u8 {
    let digest = Sha256::digest(prompt.as_bytes());
    digest[0].wrapping_add(u8::try_from(nth % 256).unwrap_or(0))
}

/// Returns a grey PNG with an aspect ratio, without compression.
pub(crate) fn png(ratio: &str, shade: u8) -> Vec<u8> {
    let part = |text: &str| text.parse::<f64>().ok().filter(|it| *it > 0.0);
    let sides = ratio.split_once(':').and_then(|(x, y)| Some((part(x)?, part(y)?)));
    let (x, y) = sides.unwrap_or((1.0, 1.0));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sides are 1 to 320"
    )]
    let side = |it: f64| (f64::from(SIDE) * it / x.max(y)).round().max(1.0) as u32;
    let (width, height) = (side(x), side(y));
    let row = std::iter::once(0).chain((0..width).map(|_| shade));
    let pixels: Vec<u8> = (0..height).flat_map(|_| row.clone()).collect();
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut head = Vec::new();
    head.extend(width.to_be_bytes());
    head.extend(height.to_be_bytes());
    head.extend([8, 0, 0, 0, 0]);
    chunk(&mut png, b"IHDR", &head);
    chunk(&mut png, b"IDAT", &stored(&pixels));
    chunk(&mut png, b"IEND", &[]);
    png
}

fn chunk(png: &mut Vec<u8>, name: &[u8; 4], content: &[u8]) {
    let length = u32::try_from(content.len()).unwrap_or(0);
    png.extend(length.to_be_bytes());
    let from = png.len();
    png.extend(name);
    png.extend(content);
    let sum = crc(&png[from..]);
    png.extend(sum.to_be_bytes());
}

/// Returns bytes as a zlib stream of stored blocks (RFC 1950 and 1951).
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut all = vec![0x78, 0x01];
    let mut blocks = bytes.chunks(65_535).peekable();
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).unwrap_or(0);
        all.push(u8::from(blocks.peek().is_none()));
        all.extend(length.to_le_bytes());
        all.extend((!length).to_le_bytes());
        all.extend(block);
    }
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in bytes {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    all.extend((b << 16 | a).to_be_bytes());
    all
}

/// Returns the CRC-32, as PNG uses it.
fn crc(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 }
        })
    };
    !bytes.iter().fold(u32::MAX, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_the_shape_that_was_asked_for() {
        assert_eq!(crc(b"IEND"), 0xae42_6082);
        let drawn = png("16:9", 7);
        let read = crate::picture::picture(&drawn).unwrap();
        assert_eq!((read.mime, read.width, read.height), ("image/png", 320, 180));
    }
}
