//! Statuses that the user writes natively in the app.

use super::state::{Change, Status, Upload};
use crate::native_post::NativePost;
use crate::network::Medium;
use crate::random;

/// Returns the changes that create a status, and its id.
pub(super) fn post(new: &NativePost) -> (Vec<Change>, String) {
    let uploads: Vec<Upload> = new.media().map(upload).collect();
    let status = Status {
        id: new.unique,
        at_ms: new.at_ms,
        text: new.text.clone(),
        visibility: "public".to_owned(),
        media: uploads.iter().map(|upload| upload.id).collect(),
        ..Status::default()
    };
    let uploads = uploads.into_iter().map(|upload| Change::Upload(Box::new(upload)));
    let status = Change::Status { status: Box::new(status), key: None };
    (uploads.chain([status]).collect(), new.unique.to_string())
}

fn upload(medium: Medium) -> Upload {
    Upload {
        id: random::number(16).unsigned_abs(),
        ready_ms: 0,
        medium,
        size: None,
        focus: None,
        attached: false,
    }
}
