//! The state of a video.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// Size of a chunk in bytes: all but the last must be a multiple of 256 KiB.
pub(super) const CHUNK: u64 = 8 << 20;

/// The state that is stored between two calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct State {
    /// The next step.
    pub stage: Stage,
    /// The id of the video, once it is complete.
    pub id: String,
    /// The number of times the upload was restarted because its address no longer worked.
    pub restarts: u32,
    /// True if YouTube has forgotten the upload after its last byte: it begins anew if the channel does not list the video.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub forgotten: bool,
    /// The number of times this stage has failed.
    pub tries: u32,
    /// The audience of the video, as YouTube said last.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub privacy: String,
    /// Names and ids of further objects, such as the playlist item.
    pub made: Vec<(String, String)>,
}

/// The next step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    /// Start the upload.
    #[default]
    Begin,
    /// Send the next chunk; this number of bytes has arrived.
    Upload { address: String, size: u64, sent: u64 },
    /// Set the thumbnail.
    Thumbnail,
    /// Add the video to a playlist.
    Playlist,
    /// Check whether YouTube accepts it.
    Look { since: DateTime<Utc> },
    /// YouTube rejected it.
    Failed { reason: String, since: DateTime<Utc> },
}

/// Returns the end of the chunk that starts at this byte.
pub(super) fn chunk_end(size: u64, start: u64) -> u64 {
    size.min(start.saturating_add(CHUNK))
}
