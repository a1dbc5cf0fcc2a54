//! Where a container stands.

use super::home::{Container, Home};

/// How long a container may be published, in milliseconds.
const LIFE_MS: i64 = 24 * 3_600_000;
/// How long a fetch may take; a restart of the sandbox ends those that were under way.
const FETCH_MS: i64 = 5 * 60_000;
/// The reason of a download that took too long.
const TIMED_OUT: u32 = 2_207_003;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    InProgress,
    Finished,
    Published,
    Error(u32),
    Expired,
}

impl Status {
    /// `status_code`.
    pub fn code(self) -> &'static str {
        match self {
            Self::InProgress => "IN_PROGRESS",
            Self::Finished => "FINISHED",
            Self::Published => "PUBLISHED",
            Self::Error(_) => "ERROR",
            Self::Expired => "EXPIRED",
        }
    }

    /// `status`, for people.
    pub fn words(self) -> String {
        match self {
            Self::InProgress => "In Progress: Media is still being processed.".into(),
            Self::Finished => {
                "Finished: Media has been uploaded and it is ready to be published.".into()
            }
            Self::Published => "Published: Media has been published successfully.".into(),
            Self::Error(flaw) => format!("Error: Media upload has failed with error code {flaw}"),
            Self::Expired => "Expired: Media was not published within 24 hours.".into(),
        }
    }
}

/// The status of a container. A carousel is as far as its slowest child.
pub(super) fn status(home: &Home, container: &Container, now_ms: i64) -> Status {
    if container.published {
        return Status::Published;
    }
    if let Some(flaw) = container.flaw {
        return Status::Error(flaw);
    }
    if now_ms >= container.at_ms + LIFE_MS {
        return Status::Expired;
    }
    for child in container.content.children.iter().filter_map(|child| home.containers.get(child)) {
        let status = status(home, child, now_ms);
        if !matches!(status, Status::Finished | Status::Published) {
            return status;
        }
    }
    match container.ready_ms {
        Some(ready_ms) if now_ms >= ready_ms => Status::Finished,
        None if now_ms >= container.at_ms + FETCH_MS => Status::Error(TIMED_OUT),
        _ => Status::InProgress,
    }
}
