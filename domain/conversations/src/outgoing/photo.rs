//! Photos and videos of changes: a file waits for its analysis, and a photo that a network does not take is replaced by a
//! converted one.

use fanfare_core::{
    Domain,
    error::{Code, Result},
};
use fanfare_entities::outgoing;
use fanfare_platforms::{PlatformId, RemoteChange, find};
use fanfare_publishing::posts::{self, AnalysedFile, Fit, PostMedia};
use serde_json::Value;

use super::failure::failure_json;
use crate::business::{FileFacts, LEAST_PHOTO};

/// The photo or video to send of a change.
#[derive(Debug)]
pub enum FittedPhoto {
    /// It is sent as it is.
    AsIs,
    /// This is sent.
    Changed(RemoteChange),
    /// It is not ready yet.
    Later,
    /// It cannot be sent.
    Broken(Value),
}

/// Checks the photo or video of a change that was not sent yet, and has a photo converted if needed.
///
/// # Errors
/// The database's.
pub async fn fit_photo(
    cx: &Domain,
    row: &outgoing::Model,
    platform: PlatformId,
    change: &RemoteChange,
) -> Result<FittedPhoto> {
    let RemoteChange::AddMedia { source_url, category, video } = change else {
        return Ok(FittedPhoto::AsIs);
    };
    let business = find(platform).business_profile();
    let Some(business) = business.filter(|_| row.sending_at.is_none()) else {
        return Ok(FittedPhoto::AsIs);
    };
    match posts::analysed_file(cx, row.workspace_id, source_url).await? {
        // A converted file has no analysis; the network itself refuses one that is no longer stored.
        AnalysedFile::Gone => return Ok(FittedPhoto::AsIs),
        AnalysedFile::Pending => return Ok(FittedPhoto::Later),
        AnalysedFile::Known(file) => {
            if let Some(error) = broken_limit(&file, *video) {
                return Ok(FittedPhoto::Broken(error));
            }
        }
    }
    if *video {
        return Ok(FittedPhoto::AsIs);
    }
    Ok(match posts::fit_photo(cx, row.workspace_id, source_url, business.photos()).await? {
        Fit::AsIs => FittedPhoto::AsIs,
        Fit::Pending => FittedPhoto::Later,
        Fit::Broken(flaw) => FittedPhoto::Broken(failure(&flaw)),
        Fit::Converted(file) if file.bytes.is_some_and(|bytes| bytes < LEAST_PHOTO) => {
            let message = "The photo is smaller than 10 KB in a form that the network takes.";
            FittedPhoto::Broken(failure_json(Code::MediaDimensionsUnsupported, message, None))
        }
        Fit::Converted(file) => {
            let category = category.clone();
            FittedPhoto::Changed(RemoteChange::AddMedia {
                source_url: file.url,
                category,
                video: false,
            })
        }
    })
}

/// Returns the failure for the first limit that an analysed file breaks.
fn broken_limit(file: &PostMedia, video: bool) -> Option<Value> {
    if let Some(flaw) = &file.flaw {
        return Some(failure(flaw));
    }
    let known = FileFacts {
        video,
        mime: &file.mime,
        bytes: file.bytes,
        sides: [file.width, file.height],
        facts: file.facts.as_ref(),
    };
    let flaw = known.flaws().into_iter().next()?;
    let mut error = failure_json(flaw.code, &flaw.message, None);
    error["remedy"] = Value::from(flaw.remedy);
    Some(error)
}

/// Returns the failure for the flaw of a file.
fn failure(flaw: &Value) -> Value {
    let code = flaw["code"].as_str().and_then(Code::named).unwrap_or(Code::MediaUnreadable);
    let message = flaw["message"].as_str().unwrap_or("The file cannot be used.");
    let mut failure = failure_json(code, message, None);
    if flaw["remedy"].is_string() {
        failure["remedy"] = flaw["remedy"].clone();
    }
    failure
}
