//! The state of one account on the PDS, and its changes.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::video_control::VideoControl;

/// One account's repository, blobs and sessions.
#[derive(Default)]
pub(crate) struct State {
    /// Records by collection and record key.
    pub records: BTreeMap<String, BTreeMap<String, Record>>,
    pub blobs: HashMap<String, Blob>,
    pub jobs: HashMap<String, Job>,
    /// Uploads of videos in parts.
    pub uploads: HashMap<String, Upload>,
    /// How videos are taken.
    pub video: VideoControl,
    /// Refresh tokens that may still be used, by their id.
    pub refresh: HashMap<String, Refresh>,
    /// The number of token pairs that were issued.
    pub pairs: u64,
    /// Access tokens up to this pair are expired, whatever they claim.
    pub expired_pairs: u64,
    pub rev: String,
    /// The number of all writes so far, for ordering.
    pub writes: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub cid: String,
    pub value: Value,
    pub at_ms: i64,
    pub nth: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Blob {
    pub mime: String,
    pub size: u64,
    /// When records can use it, in milliseconds since 1970.
    #[serde(default)]
    pub ready_ms: i64,
}

/// A video that is being processed into a blob.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Job {
    pub cid: String,
    pub size: u64,
    pub at_ms: i64,
    pub ready_ms: i64,
    /// What is wrong with the file, if it is.
    pub flaw: Option<String>,
    /// The code with which it failed, if it did.
    #[serde(default)]
    pub code: Option<String>,
}

impl Job {
    pub fn has_failed(&self) -> bool {
        self.flaw.is_some() || self.code.is_some()
    }
}

/// An upload of a video in parts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Upload {
    pub size: u64,
    pub at_ms: i64,
    /// The parts that have arrived, by their numbers from 1.
    pub parts: BTreeMap<u64, Part>,
    pub end: Option<UploadEnd>,
}

/// A part of a video. Its bytes are not kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Part {
    pub cid: String,
    /// True if it begins as an MP4 file does.
    pub is_video: bool,
}

/// The end of an upload in parts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum UploadEnd {
    Completed { job: String },
    Aborted,
}

#[derive(Debug, Clone)]
pub(crate) struct Refresh {
    pub expires_ms: i64,
    /// The token it was exchanged for.
    pub next: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    /// The user logged in.
    Session {
        id: String,
        expires_ms: i64,
    },
    /// A refresh token was exchanged; the old one stays valid for a while.
    Rotated {
        old: String,
        old_expires_ms: i64,
        id: String,
        expires_ms: i64,
    },
    /// A refresh token was revoked.
    Ended {
        id: String,
    },
    /// All access tokens issued so far are expired.
    Expired,
    Blob {
        cid: String,
        blob: Blob,
    },
    Job {
        id: String,
        job: Job,
    },
    /// How videos are taken from now on.
    Video(VideoControl),
    Upload {
        id: String,
        upload: Upload,
    },
    UploadPart {
        id: String,
        number: u64,
        part: Part,
    },
    UploadEnd {
        id: String,
        end: UploadEnd,
    },
    Commit {
        rev: String,
        at_ms: i64,
        ops: Vec<Op>,
    },
}

/// One write of a commit.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Op {
    Put { collection: String, rkey: String, cid: String, value: Value },
    Delete { collection: String, rkey: String },
}

impl State {
    pub fn record(&self, collection: &str, rkey: &str) -> Option<&Record> {
        self.records.get(collection)?.get(rkey)
    }

    /// Returns the records of a collection, ordered by key.
    pub fn collection(
        &self,
        collection: &str,
    ) -> impl DoubleEndedIterator<Item = (&String, &Record)> {
        self.records.get(collection).into_iter().flatten()
    }

    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Session { id, expires_ms } => self.issue(id, expires_ms),
            Change::Rotated { old, old_expires_ms, id, expires_ms } => {
                if let Some(old) = self.refresh.get_mut(&old) {
                    old.expires_ms = old_expires_ms;
                    old.next = Some(id.clone());
                }
                self.issue(id, expires_ms);
            }
            Change::Ended { id } => {
                self.refresh.remove(&id);
            }
            Change::Expired => self.expired_pairs = self.pairs,
            Change::Blob { cid, blob } => {
                self.blobs.insert(cid, blob);
            }
            Change::Job { id, job } => {
                let blob =
                    Blob { mime: "video/mp4".into(), size: job.size, ready_ms: job.ready_ms };
                if let Some(left) = &mut self.video.remaining_daily_videos {
                    *left = left.saturating_sub(1);
                }
                if !job.has_failed() {
                    self.blobs.insert(job.cid.clone(), blob);
                }
                self.jobs.insert(id, job);
            }
            Change::Video(control) => self.video = control,
            Change::Upload { id, upload } => {
                self.uploads.insert(id, upload);
            }
            Change::UploadPart { id, number, part } => {
                if let Some(upload) = self.uploads.get_mut(&id) {
                    upload.parts.insert(number, part);
                }
            }
            Change::UploadEnd { id, end } => {
                if let Some(upload) = self.uploads.get_mut(&id) {
                    upload.end = Some(end);
                }
            }
            Change::Commit { rev, at_ms, ops } => {
                self.rev = rev;
                for op in ops {
                    self.write(op, at_ms);
                }
            }
        }
    }

    fn issue(&mut self, id: String, expires_ms: i64) {
        self.pairs += 1;
        self.refresh.insert(id, Refresh { expires_ms, next: None });
    }

    fn write(&mut self, op: Op, at_ms: i64) {
        self.writes += 1;
        match op {
            Op::Put { collection, rkey, cid, value } => {
                let records = self.records.entry(collection).or_default();
                let (at_ms, nth) =
                    records.get(&rkey).map_or((at_ms, self.writes), |old| (old.at_ms, old.nth));
                records.insert(rkey, Record { cid, value, at_ms, nth });
            }
            Op::Delete { collection, rkey } => {
                if let Some(records) = self.records.get_mut(&collection) {
                    records.remove(&rkey);
                }
            }
        }
    }
}
