//! Validates the content of posts, and Facebook's error responses.

use serde_json::{Map, Value, json};

use crate::graph::failure;
use crate::params::Params;
use crate::reply::Reply;

/// Longest message.
pub(super) const MESSAGE: usize = 63_206;
/// Longest text on a coloured background.
pub(super) const COLOURED: usize = 130;
/// Largest photo in bytes.
pub(super) const PHOTO_BYTES: u64 = 4_000_000;
/// Largest video in bytes.
pub(super) const VIDEO_BYTES: u64 = 10_000_000_000;
pub(super) const PHOTO_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
pub(super) const VIDEO_TYPES: [&str; 2] = ["video/mp4", "video/quicktime"];

/// Returns the error of an invalid parameter.
pub(super) fn invalid_parameter(what: &str) -> Reply {
    failure::graph(400, 100, 0, &format!("(#100) {what}"))
}

/// Returns a required parameter.
pub(super) fn required(params: &Params, name: &str) -> Result<String, Reply> {
    params
        .filled(name)
        .ok_or_else(|| invalid_parameter(&format!("The parameter {name} is required")))
}

/// Returns a text, unless it is too long.
pub(super) fn message(params: &Params, name: &str) -> Result<String, Reply> {
    let text = params.text(name).unwrap_or_default();
    if text.chars().count() > MESSAGE {
        return Err(invalid_parameter(&format!(
            "Param {name} must be at most {MESSAGE} characters long"
        )));
    }
    Ok(text)
}

/// Returns a title, unless it is too long.
pub(super) fn title(params: &Params) -> Result<String, Reply> {
    let title = params.text("title").unwrap_or_default();
    if title.chars().count() > 255 {
        return Err(invalid_parameter("Name parameter too long"));
    }
    Ok(title)
}

/// Returns the label for AI of a video, if it has one.
pub(super) fn label(params: &Params) -> Map<String, Value> {
    let labelled = params.flag("is_ai_generated");
    labelled.then(|| ("is_ai_generated".to_owned(), json!(true))).into_iter().collect()
}

/// Returns the error of a duplicate post.
pub(super) fn duplicate(subcode: u32) -> Reply {
    let explanation = "This status update is identical to the last one you posted. Try posting something different, or delete your previous update.";
    failure::explained(
        400,
        506,
        subcode,
        "Duplicate status message",
        "Duplicate Status Update",
        explanation,
    )
}
