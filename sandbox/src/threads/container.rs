//! Where a container stands.

use super::home::{Container, Home};

/// How long a container may be published, in milliseconds.
const LIFE_MS: i64 = 24 * 3_600_000;
/// How long a fetch may take; a restart of the sandbox ends those that were under way.
const FETCH_MS: i64 = 5 * 60_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    InProgress,
    Finished,
    Published,
    Error,
    Expired,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Self::InProgress => "IN_PROGRESS",
            Self::Finished => "FINISHED",
            Self::Published => "PUBLISHED",
            Self::Error => "ERROR",
            Self::Expired => "EXPIRED",
        }
    }
}

/// The status of a container, and why if it failed. A carousel is as far as its slowest child.
pub(super) fn status(home: &Home, container: &Container, now_ms: i64) -> (Status, Option<String>) {
    if container.published {
        return (Status::Published, None);
    }
    if let Some(flaw) = &container.flaw {
        return (Status::Error, Some(flaw.clone()));
    }
    if now_ms >= container.at_ms + LIFE_MS {
        return (Status::Expired, None);
    }
    for child in container.content.children.iter().filter_map(|child| home.containers.get(child)) {
        let (status, flaw) = status(home, child, now_ms);
        if !matches!(status, Status::Finished | Status::Published) {
            return (status, flaw);
        }
    }
    match container.ready_ms {
        Some(ready_ms) if now_ms >= ready_ms => (Status::Finished, None),
        None if now_ms >= container.at_ms + FETCH_MS => {
            (Status::Error, Some("FAILED_DOWNLOADING_VIDEO".into()))
        }
        _ => (Status::InProgress, None),
    }
}
