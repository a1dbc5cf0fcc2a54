//! Checks a file that is to be added.

use fanfare_entities::media_asset;
use fanfare_media::Facts;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::change::NewMedia;
use crate::{
    Act,
    error::{Code, Error, Result, Violations, violation},
    media::analysis,
    outgoing::LEAST_PHOTO,
};

/// The categories of media.
const CATEGORIES: [&str; 13] = [
    "COVER",
    "PROFILE",
    "LOGO",
    "EXTERIOR",
    "INTERIOR",
    "PRODUCT",
    "AT_WORK",
    "FOOD_AND_DRINK",
    "MENU",
    "COMMON_AREA",
    "ROOMS",
    "TEAMS",
    "ADDITIONAL",
];

/// The categories that have one photo only.
pub(super) const SINGLE: [&str; 3] = ["COVER", "PROFILE", "LOGO"];

/// The smallest and largest photo in bytes, and its minimum side in pixels.
const PHOTO_BYTES: (i64, i64) = (LEAST_PHOTO, 25_000_000);
const PHOTO_SIDE: i32 = 250;

/// The types of photos that are uploaded as they are, and those that are converted before.
const PHOTOS: [&str; 2] = ["image/jpeg", "image/png"];
const CONVERTED: [&str; 2] = ["image/gif", "image/webp"];

const VIDEO_BYTES: i64 = 75_000_000;

/// The longest video in ms, and the minimum number of lines it must have.
const VIDEO_MS: u64 = 30_000;
const VIDEO_LINES: u32 = 720;

pub(super) fn parse_category(name: &str) -> Result<String> {
    if CATEGORIES.contains(&name) {
        return Ok(name.to_owned());
    }
    let message = format!("There is no category called {name:?}.");
    let remedy = format!("Use one of {}.", CATEGORIES.join(", "));
    Err(Error::field(Code::InvalidField, "category", message, remedy))
}

/// Checks a file that is to be added. Returns true if it is a video.
pub(super) async fn check(act: &Act, new: &NewMedia) -> Result<bool> {
    let mut broken = Violations::default();
    let video = match new.media_format.as_deref() {
        None | Some("PHOTO") => false,
        Some("VIDEO") => true,
        Some(other) => {
            let message = format!("media_format is {other:?}; it may be PHOTO or VIDEO.");
            let remedy = "Send one of them, or leave it out for a photo.";
            broken.push(violation(Code::InvalidField, "media_format", message, remedy));
            false
        }
    };
    if let Err(error) = parse_category(&new.category) {
        broken.append(error.into_violations());
    } else if video && SINGLE.contains(&new.category.as_str()) {
        let message = format!("{} holds a photo, not a film.", new.category);
        broken.push(violation(Code::InvalidField, "category", message, "Choose another category."));
    }
    check_file(act, &new.source_url, video, &mut broken).await?;
    Error::check(broken)?;
    Ok(video)
}

async fn check_file(act: &Act, url: &str, video: bool, broken: &mut Violations) -> Result<()> {
    let name = url.strip_prefix(&format!("{}/", act.cx.settings.media_base_url));
    let row = match name {
        Some(name) => {
            media_asset::Entity::find()
                .filter(media_asset::Column::PublicName.eq(name))
                .filter(media_asset::Column::WorkspaceId.eq(act.membership.workspace_id))
                .one(&act.cx.db.read)
                .await?
        }
        None => None,
    };
    let mut wrong = |code, message: String, remedy: &str| {
        broken.push(violation(code, "source_url", message, remedy));
    };
    let Some(row) = row else {
        let message = "source_url is not the address of a file of this workspace.".to_owned();
        wrong(Code::InvalidField, message, "Send it to POST /api/v1/media/upload-from-url first.");
        return Ok(());
    };
    let mime = row.mime.as_deref().unwrap_or_default();
    let is_converted = !video && CONVERTED.contains(&mime);
    let fits =
        if video { mime.starts_with("video/") } else { is_converted || PHOTOS.contains(&mime) };
    if !fits {
        let wanted = if video { "a video" } else { "JPEG, PNG, GIF or WebP" };
        wrong(
            Code::MediaTypeUnsupported,
            format!("The file is {mime}; it must be {wanted}."),
            "Convert it.",
        );
    }
    let (least, most) = if video { (0, VIDEO_BYTES) } else { PHOTO_BYTES };
    let bytes = row.bytes.unwrap_or(least);
    if bytes > most {
        wrong(
            Code::MediaTooLarge,
            format!("The file has {bytes} bytes; it may have {most}."),
            "Send a smaller file.",
        );
    }
    if video && fits {
        check_film(act, row.uid, broken).await?;
        return Ok(());
    }
    if is_converted {
        check_converted(act, row.uid, broken).await?;
    }
    let mut wrong = |code, message: String, remedy: &str| {
        broken.push(violation(code, "source_url", message, remedy));
    };
    let small = |side: Option<i32>| side.is_some_and(|side| side < PHOTO_SIDE);
    // The size of a converted file is known after the conversion.
    if (bytes < least && !is_converted) || small(row.width) || small(row.height) {
        let message = "The photo is smaller than 10 KB or 250 by 250 pixels.".to_owned();
        wrong(Code::MediaDimensionsUnsupported, message, "Send a larger one.");
    }
    Ok(())
}

/// Checks that a picture can be converted, if it was already analysed.
async fn check_converted(act: &Act, uid: Uuid, broken: &mut Violations) -> Result<()> {
    let found = analysis::find_by_uids(&act.cx.db.read, &[uid]).await?.remove(&uid);
    let facts = found.and_then(|found| found.facts);
    let facts: Option<Facts> =
        facts.map(serde_json::from_value).transpose().map_err(Error::internal)?;
    if facts.is_some_and(|facts| facts.animated) {
        let message = "The picture moves; only a photo is taken.";
        let remedy = "Send one that stands still.";
        broken.push(violation(Code::MediaTypeUnsupported, "source_url", message, remedy));
    }
    Ok(())
}

/// Checks the duration and the resolution of a video, if it was already analysed; otherwise the network checks them.
async fn check_film(act: &Act, uid: Uuid, broken: &mut Violations) -> Result<()> {
    let found = analysis::find_by_uids(&act.cx.db.read, &[uid]).await?.remove(&uid);
    let mut wrong = |code, message: String, remedy: &str| {
        broken.push(violation(code, "source_url", message, remedy));
    };
    if let Some(flaw) = found.as_ref().and_then(|found| found.error.as_ref()) {
        let message = flaw["message"].as_str().unwrap_or("The film cannot be used.").to_owned();
        wrong(Code::MediaUnreadable, message, "Export the film again.");
    }
    let Some(facts) = found.and_then(|found| found.facts) else { return Ok(()) };
    let facts: Facts = serde_json::from_value(facts).map_err(Error::internal)?;
    if let Some(length) = facts.duration_ms.filter(|length| *length > VIDEO_MS) {
        let message = format!("The film lasts {:.1} s; it may last 30.", seconds(length));
        wrong(Code::VideoTooLong, message, "Cut it.");
    }
    if let Some(lines) = facts.size().map(|(width, height)| width.min(height))
        && lines < VIDEO_LINES
    {
        let message = format!("The film has {lines} lines; it needs {VIDEO_LINES}.");
        wrong(Code::MediaDimensionsUnsupported, message, "Send a larger one.");
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "films are short")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}
