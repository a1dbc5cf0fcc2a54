//! The state of one channel.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::google::login;
use crate::network::Medium;

/// Uploads, videos, playlists and tokens.
#[derive(Default)]
pub(crate) struct State {
    /// By `upload_id`.
    pub uploads: HashMap<String, Upload>,
    /// By number, which grows with time.
    pub videos: BTreeMap<u64, Video>,
    /// Playlist items, in order: id, playlist, video.
    pub places: Vec<(String, String, String)>,
    pub logins: login::Logins,
}

/// A video that is being uploaded.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Upload {
    pub upload_id: String,
    pub at_ms: i64,
    /// The post's text and settings.
    pub resource: Value,
    pub size: u64,
    pub received: u64,
    /// The media type by its first bytes; empty if unknown.
    pub mime: String,
    /// The number of its video, once it is complete.
    pub video: Option<u64>,
}

/// A video.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Video {
    pub number: u64,
    pub id: String,
    pub at_ms: i64,
    pub ready_ms: i64,
    pub resource: Value,
    pub media: Medium,
    pub thumbnail: Option<String>,
    /// Why it cannot be processed.
    pub flaw: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Begun(Upload),
    Received {
        upload_id: String,
        received: u64,
        mime: Option<String>,
    },
    /// The last byte has arrived.
    Whole {
        upload_id: String,
        video: Video,
    },
    Thumbnail {
        number: u64,
        sha256: String,
    },
    Placed {
        id: String,
        playlist: String,
        video: String,
    },
    /// A user uploaded a video natively on YouTube.
    Posted(Video),
    /// A user deleted a video.
    Gone {
        number: u64,
    },
    Login(login::Change),
}

impl State {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Begun(upload) => {
                self.uploads.insert(upload.upload_id.clone(), upload);
            }
            Change::Received { upload_id, received, mime } => {
                if let Some(upload) = self.uploads.get_mut(&upload_id) {
                    upload.received = received;
                    upload.mime = mime.unwrap_or_else(|| std::mem::take(&mut upload.mime));
                }
            }
            Change::Whole { upload_id, video } => {
                if let Some(upload) = self.uploads.get_mut(&upload_id) {
                    upload.received = upload.size;
                    upload.video = Some(video.number);
                }
                self.videos.insert(video.number, video);
            }
            Change::Thumbnail { number, sha256 } => {
                if let Some(video) = self.videos.get_mut(&number) {
                    video.thumbnail = Some(sha256);
                }
            }
            Change::Placed { id, playlist, video } => self.places.push((id, playlist, video)),
            Change::Posted(video) => drop(self.videos.insert(video.number, video)),
            Change::Gone { number } => {
                if let Some(video) = self.videos.remove(&number) {
                    self.places.retain(|(.., placed)| *placed != video.id);
                }
            }
            Change::Login(change) => self.logins.apply(change),
        }
    }

    /// Returns a video by its id.
    pub fn video(&self, id: &str) -> Option<&Video> {
        self.videos.values().find(|video| video.id == id)
    }
}
