//! The text of a container's status.

use super::state::Flaw;
use crate::graph::containers::Status;

/// Returns `status`, a text for people.
pub(super) fn status_text(status: &Status<Flaw>) -> String {
    match status {
        Status::InProgress => "In Progress: Media is still being processed.".into(),
        Status::Finished => {
            "Finished: Media has been uploaded and it is ready to be published.".into()
        }
        Status::Published => "Published: Media has been published successfully.".into(),
        Status::Error(flaw) => format!("Error: Media upload has failed with error code {flaw}"),
        Status::Expired => "Expired: Media was not published within 24 hours.".into(),
    }
}
