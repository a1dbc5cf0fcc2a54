//! The progress of a post.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::SHARE;
use crate::{Error, PublishedPart, PublishedPost, Result, Warning, WarningCode};

/// The state that is stored between two calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    /// Ids of the segments that are public, in order. Their number is the index of the current segment.
    pub published: Vec<String>,
    /// Containers of the carousel's items created so far.
    pub items: Vec<String>,
    /// The number of containers that took the place of one that Threads had lost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub remade: u32,
    /// The number of times files were fetched again that Threads could not fetch.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fetched_again: u32,
    /// True if the post is not shown on Instagram, because the permission for that is missing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unshared: bool,
    /// The next step.
    pub stage: Stage,
}

/// The next step for the current segment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "name")]
pub(super) enum Stage {
    /// Create the next item of the carousel, or the container.
    #[default]
    Create,
    /// Wait until the items are processed; the first `ready` ones are.
    Items { since: DateTime<Utc>, ready: usize },
    /// Create the carousel of the items.
    Carousel,
    /// Wait until the container is processed.
    Wait { container: String, since: DateTime<Utc> },
    /// Publish the container; `early` counts how often that was too early.
    Publish { container: String, since: DateTime<Utc>, early: u32 },
    /// A container failed, of the draft's file at this place; noticed at `since`.
    Broken {
        reason: String,
        since: DateTime<Utc>,
        #[serde(default)]
        file: usize,
    },
    /// Everything is public; read the address.
    Permalink,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl State {
    /// Returns the state as JSON, for storing.
    pub fn write(&self) -> Value {
        json!(self)
    }

    /// Returns the index of the current segment.
    pub fn segment(&self) -> usize {
        self.published.len()
    }

    /// Discards the containers of the current segment.
    pub fn restart(&mut self) {
        self.items.clear();
        self.stage = Stage::Create;
    }

    /// Returns the result, once everything is public, with the addresses of its segments.
    pub fn result(self, urls: Vec<Option<String>>) -> Result<PublishedPost> {
        let warnings = self.unshared.then(not_shared).into_iter().collect();
        let mut made = self.published.into_iter().zip(urls);
        let (id, url) = made
            .next()
            .ok_or_else(|| Error::rejected("The stored progress of the post cannot be read."))?;
        let parts = (2..).zip(made).map(|(number, (id, url))| PublishedPart {
            name: format!("segment_{number}"),
            id,
            url,
        });
        Ok(PublishedPost { id, url, parts: parts.collect(), warnings, names: Vec::new() })
    }
}

fn not_shared() -> Warning {
    let message = "The account's owner has not let the app share posts to Instagram: this one is on Threads alone.";
    Warning::new(WarningCode::PermissionMissing, "settings.share_to_instagram", message)
        .with("permission", SHARE)
}
