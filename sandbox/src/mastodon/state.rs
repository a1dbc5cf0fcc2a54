//! A user's posts and files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::network::Medium;

/// The time for which an idempotency key is remembered.
const KEY_MS: i64 = 3_600_000;

#[derive(Default)]
pub(crate) struct State {
    pub statuses: BTreeMap<u64, Status>,
    pub media: BTreeMap<u64, Upload>,
    /// The status that each idempotency key created, and when.
    keys: BTreeMap<String, (u64, i64)>,
    pub revoked: bool,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Status {
    pub id: u64,
    pub at_ms: i64,
    pub text: String,
    pub spoiler_text: String,
    pub visibility: String,
    pub sensitive: bool,
    pub language: Option<String>,
    pub media: Vec<u64>,
    pub poll: Option<Poll>,
    pub quoted: Option<u64>,
    pub in_reply_to: Option<u64>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Poll {
    pub options: Vec<String>,
    pub expires_ms: i64,
    pub multiple: bool,
    pub hide_totals: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Upload {
    pub id: u64,
    /// When it can be attached.
    pub ready_ms: i64,
    pub medium: Medium,
    pub size: Option<(u32, u32)>,
    pub focus: Option<String>,
    /// True if it belongs to a status.
    pub attached: bool,
}

/// The time after which a file that belongs to no status is removed
/// (<https://github.com/mastodon/mastodon/blob/main/app/lib/vacuum/media_attachments_vacuum.rb>).
const LOOSE_MS: i64 = 86_400_000;

impl Upload {
    /// Returns true if it can be read and attached.
    pub fn is_loose(&self, now_ms: i64) -> bool {
        !self.attached && now_ms - self.ready_ms < LOOSE_MS
    }

    /// Returns `image`, `gifv` or `video`.
    pub fn kind(&self) -> &'static str {
        match self.medium.mime.as_str() {
            "image/gif" => "gifv",
            mime if mime.starts_with("video/") => "video",
            _ => "image",
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Upload(Box<Upload>),
    Status {
        status: Box<Status>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    },
    Deleted {
        id: u64,
    },
    Revoked(bool),
}

impl State {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Upload(upload) => {
                self.media.insert(upload.id, *upload);
            }
            Change::Status { status, key } => {
                for id in &status.media {
                    if let Some(upload) = self.media.get_mut(id) {
                        upload.attached = true;
                    }
                }
                if let Some(key) = key {
                    self.keys.insert(key, (status.id, status.at_ms));
                }
                self.statuses.insert(status.id, *status);
            }
            Change::Deleted { id } => {
                self.statuses.remove(&id);
            }
            Change::Revoked(revoked) => self.revoked = revoked,
        }
    }

    /// Returns the status that this key created within the last hour.
    pub fn made_by(&self, key: &str, now_ms: i64) -> Option<&Status> {
        let (id, at_ms) = self.keys.get(key)?;
        if now_ms - at_ms >= KEY_MS { None } else { self.statuses.get(id) }
    }
}
