//! The instance's metadata.

use serde_json::{Value, json};

use super::Cx;
use crate::reply::{HandlerResult, Reply};

/// Most characters of a status.
pub(super) const CHARACTERS_MAX: usize = 500;
/// The length that every address counts as.
pub(super) const PER_URL: usize = 23;
/// Most media of a status.
pub(super) const MEDIA_MAX: usize = 4;
/// The longest description of a file.
pub(super) const DESCRIPTION_MAX: usize = 1_500;
/// Largest image and video in bytes.
pub(super) const IMAGE_BYTES_MAX: u64 = 16_777_216;
pub(super) const VIDEO_BYTES_MAX: u64 = 103_809_024;
/// Most pixels of an image.
pub(super) const IMAGE_PIXELS_MAX: u64 = 33_177_600;
/// Most frames a second of a video.
pub(super) const FRAME_RATE_MAX: f64 = 120.0;
/// The accepted types.
pub(super) const TYPES: [&str; 7] = [
    "image/jpeg",
    "image/png",
    "image/gif",
    "image/webp",
    "video/webm",
    "video/mp4",
    "video/quicktime",
];
/// Most options of a poll, the longest one, and how long it may last in seconds.
pub(super) const OPTIONS_MAX: usize = 4;
pub(super) const OPTION_MAX: usize = 50;
pub(super) const EXPIRES_IN: std::ops::RangeInclusive<i64> = 300..=2_629_746;

fn configuration() -> Value {
    json!({
        "statuses": {
            "max_characters": CHARACTERS_MAX,
            "max_media_attachments": MEDIA_MAX,
            "characters_reserved_per_url": PER_URL,
        },
        "media_attachments": {
            "description_limit": DESCRIPTION_MAX,
            "supported_mime_types": TYPES,
            "image_size_limit": IMAGE_BYTES_MAX,
            "image_matrix_limit": IMAGE_PIXELS_MAX,
            "video_size_limit": VIDEO_BYTES_MAX,
            "video_matrix_limit": 8_294_400,
            "video_frame_rate_limit": FRAME_RATE_MAX as u32,
        },
        "polls": {
            "max_options": OPTIONS_MAX,
            "max_characters_per_option": OPTION_MAX,
            "min_expiration": EXPIRES_IN.start(),
            "max_expiration": EXPIRES_IN.end(),
        },
    })
}

/// `GET /instance`, version 1 or 2; needs no token.
pub(super) fn get(cx: &Cx) -> HandlerResult {
    let base = cx.sim.base();
    let mut shown = json!({
        "title": "Fanfare's Mastodon",
        "version": "4.5.2",
        "description": "A simulated instance.",
        "languages": ["en"],
        "configuration": configuration(),
        "rules": [],
    });
    if cx.call.segment(1) == "v2" {
        shown["domain"] = json!("mastodon.example");
        shown["source_url"] = json!("https://github.com/mastodon/mastodon");
        shown["api_versions"] = json!({"mastodon": 7});
        let configuration = &mut shown["configuration"];
        configuration["urls"] = json!({"streaming": base});
        configuration["accounts"] = json!({"max_featured_tags": 10, "max_pinned_statuses": 5});
        configuration["translation"] = json!({"enabled": false});
        configuration["vapid"] = json!({"public_key": ""});
        shown["icon"] = json!([]);
        shown["usage"] = json!({"users": {"active_month": cx.sim.all().len()}});
        shown["thumbnail"] = json!({"url": format!("{base}/packs/media/images/preview.png")});
        shown["registrations"] =
            json!({"enabled": false, "approval_required": false, "message": null});
        shown["contact"] = json!({"email": "staff@mastodon.example", "account": null});
    } else {
        shown["uri"] = json!("mastodon.example");
        shown["stats"] = json!({"user_count": cx.sim.all().len(), "domain_count": 1});
    }
    Ok(Reply::ok(&shown))
}
