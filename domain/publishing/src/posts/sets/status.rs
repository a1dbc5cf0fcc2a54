//! The status of a set, which follows from those of its targets.

use fanfare_entities::post::PostStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The status of a set. It is computed from the targets that the caller sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SetStatus {
    /// A target is going out, or some are out and another is still to go.
    Publishing,
    /// A target waits for its time.
    Scheduled,
    /// A target is paused, and none waits for its time.
    Paused,
    /// A target is a draft, and none is to go out.
    Draft,
    /// All targets are public.
    Published,
    /// All targets failed.
    Failed,
    /// Some targets are public, the others failed.
    Partial,
}

impl SetStatus {
    /// Returns the status of a set with targets in these statuses. What is open decides.
    #[must_use]
    pub fn of(targets: &[PostStatus]) -> Self {
        let has = |status: PostStatus| targets.contains(&status);
        let is_begun = has(PostStatus::Published) || has(PostStatus::Failed);
        if has(PostStatus::Publishing) || has(PostStatus::Processing) {
            return Self::Publishing;
        }
        if has(PostStatus::Scheduled) {
            return if is_begun { Self::Publishing } else { Self::Scheduled };
        }
        if has(PostStatus::Paused) {
            return Self::Paused;
        }
        if has(PostStatus::Draft) {
            return Self::Draft;
        }
        match (has(PostStatus::Published), has(PostStatus::Failed)) {
            (true, true) => Self::Partial,
            (true, false) => Self::Published,
            _ => Self::Failed,
        }
    }

    /// Returns true if nothing of the set is open.
    #[must_use]
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Published | Self::Failed | Self::Partial)
    }

    /// Returns the name, as replies show it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Publishing => "publishing",
            Self::Scheduled => "scheduled",
            Self::Paused => "paused",
            Self::Draft => "draft",
            Self::Published => "published",
            Self::Failed => "failed",
            Self::Partial => "partial",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_decides() {
        use PostStatus::{Draft, Failed, Paused, Processing, Published, Publishing, Scheduled};
        let rows: &[(&[PostStatus], SetStatus)] = &[
            (&[Publishing, Draft], SetStatus::Publishing),
            (&[Processing], SetStatus::Publishing),
            (&[Published, Scheduled], SetStatus::Publishing),
            (&[Failed, Scheduled, Paused], SetStatus::Publishing),
            (&[Scheduled, Paused, Draft], SetStatus::Scheduled),
            (&[Paused, Draft, Published], SetStatus::Paused),
            (&[Draft, Failed], SetStatus::Draft),
            (&[Published, Published], SetStatus::Published),
            (&[Failed], SetStatus::Failed),
            (&[Published, Failed], SetStatus::Partial),
        ];
        for (targets, status) in rows {
            assert_eq!(SetStatus::of(targets), *status, "{targets:?}");
        }
    }
}
