//! Returns the progress of a video.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// Size of a chunk in bytes: all but the last are a multiple of 256 KiB.
pub(super) const CHUNK: u64 = 8 << 20;

/// Stored between two calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct State {
    /// The next step.
    pub stage: Stage,
    /// Id of the video, once it is whole.
    pub id: String,
    /// The number of times the upload was begun anew because its address no longer worked.
    pub restarts: u32,
    /// The number of times this stage was tried in vain.
    pub tries: u32,
    /// Name and id of what was made beside the video.
    pub made: Vec<(String, String)>,
}

/// The next step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    /// Begin the upload.
    #[default]
    Begin,
    /// Send the next chunk; this number of bytes has arrived.
    Upload { address: String, size: u64, sent: u64 },
    /// Set the thumbnail.
    Thumbnail,
    /// Put the video into a playlist.
    Playlist,
    /// See whether YouTube keeps it.
    Look { since: DateTime<Utc> },
    /// YouTube does not.
    Failed { reason: String, since: DateTime<Utc> },
}

/// End of the chunk that starts at this byte.
pub(super) fn chunk_end(size: u64, start: u64) -> u64 {
    size.min(start.saturating_add(CHUNK))
}
