//! Photos of changes: a photo that a network does not take is replaced by a converted one.

use fanfare_entities::outgoing;
use fanfare_platforms::{Change, PlatformId, find};
use serde_json::Value;

use super::failure::stored;
use crate::{
    Domain,
    error::{Code, Result},
    posts::{self, Fit},
};

/// The smallest size of a photo, in bytes.
pub(crate) const LEAST: i64 = 10 << 10;

/// What to send as the photo of a change.
pub(super) enum Fitted {
    /// It is sent as it is.
    AsIs,
    /// This is sent.
    Changed(Change),
    /// It is not ready yet.
    Later,
    /// It cannot be sent.
    Broken(Value),
}

/// Checks the photo of a change that was not sent yet, and converts it if needed.
pub(super) async fn fitted(
    cx: &Domain,
    row: &outgoing::Model,
    platform: PlatformId,
    change: &Change,
) -> Result<Fitted> {
    let Change::AddMedia { source_url, category, video: false } = change else {
        return Ok(Fitted::AsIs);
    };
    let business = find(platform).business_profile();
    let Some(business) = business.filter(|_| row.sending_at.is_none()) else {
        return Ok(Fitted::AsIs);
    };
    Ok(match posts::fit(cx, row.workspace_id, source_url, business.photos()).await? {
        Fit::AsIs => Fitted::AsIs,
        Fit::Pending => Fitted::Later,
        Fit::Broken(flaw) => Fitted::Broken(failure(&flaw)),
        Fit::Converted(file) if file.bytes.is_some_and(|bytes| bytes < LEAST) => {
            let message = "The photo is smaller than 10 KB in a form that the network takes.";
            Fitted::Broken(stored(Code::MediaDimensionsUnsupported, message, None))
        }
        Fit::Converted(file) => {
            let category = category.clone();
            Fitted::Changed(Change::AddMedia { source_url: file.url, category, video: false })
        }
    })
}

/// Returns the failure for the flaw of a file.
fn failure(flaw: &Value) -> Value {
    let code = flaw["code"].as_str().and_then(Code::named).unwrap_or(Code::MediaUnreadable);
    let message = flaw["message"].as_str().unwrap_or("The file cannot be used.");
    let mut failure = stored(code, message, None);
    if flaw["remedy"].is_string() {
        failure["remedy"] = flaw["remedy"].clone();
    }
    failure
}
