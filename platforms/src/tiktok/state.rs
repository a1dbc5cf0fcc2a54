//! The progress of a post.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::client::Creator;

/// The state that is stored between two calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct State {
    /// The creator's permissions.
    pub creator: Creator,
    /// The next step.
    pub stage: Stage,
    /// The number of times the upload was restarted because its address no longer worked.
    pub restarts: u32,
    /// True if the address no longer works: unless TikTok has the whole video, the upload begins anew.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
}

/// The next step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    /// Read the creator's permissions.
    #[default]
    Ask,
    /// Initialize the post.
    Begin,
    /// Send the next chunk of a video; this number of its bytes has arrived.
    Upload { publish_id: String, upload_url: String, size: u64, sent: u64 },
    /// Wait until TikTok has made it public.
    Wait { publish_id: String, since: DateTime<Utc> },
    /// TikTok failed to publish it.
    Failed { reason: String, since: DateTime<Utc> },
}

/// Size of a chunk in bytes. TikTok accepts chunks of 5 to 64 MB, and a last one of up to 128 MB.
pub(super) const CHUNK: u64 = 10 << 20;

/// Returns the number of chunks of a file; the last one includes the remainder.
pub(super) fn chunks(size: u64) -> u64 {
    (size / CHUNK).max(1)
}

/// Returns the end of the chunk that starts at this byte.
pub(super) fn chunk_end(size: u64, start: u64) -> u64 {
    let is_last = start / CHUNK + 1 >= chunks(size);
    if is_last { size } else { start + CHUNK }
}
