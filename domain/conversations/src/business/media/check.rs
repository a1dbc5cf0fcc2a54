//! Checks a file that is to be added.

use fanfare_core::{
    Act,
    error::{Code, Error, Result, Violations, violation},
};
use fanfare_entities::media_asset;
use fanfare_media::Facts;
use fanfare_publishing::media::analysis;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::{change::NewMedia, limits::FileFacts};

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
        let message = format!("{} holds a photo, not a video.", new.category);
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
    let found = analysis::find_by_uids(&act.cx.db.read, &[row.uid]).await?.remove(&row.uid);
    if let Some(flaw) = found.as_ref().and_then(|found| found.error.as_ref()) {
        let message = flaw["message"].as_str().unwrap_or("The file cannot be used.").to_owned();
        wrong(Code::MediaUnreadable, message, "Export the file again.");
    }
    // A file that is not analysed yet is looked at again before it is sent.
    let facts = found.and_then(|found| found.facts);
    let facts: Option<Facts> =
        facts.map(serde_json::from_value).transpose().map_err(Error::internal)?;
    let known = FileFacts {
        video,
        mime: row.mime.as_deref().unwrap_or_default(),
        bytes: row.bytes,
        sides: [row.width, row.height],
        facts: facts.as_ref(),
    };
    for flaw in known.flaws() {
        wrong(flaw.code, flaw.message, flaw.remedy);
    }
    Ok(())
}
