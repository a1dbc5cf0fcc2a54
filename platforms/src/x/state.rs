//! The progress of a post, and the next step.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::settings::Settings;
use crate::{Draft, Step, Warning, settings::alt_text};

/// The state that is stored between two calls.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct State {
    /// Uploaded files, in order.
    pub media: Vec<Uploaded>,
    /// The file that is being uploaded in chunks.
    pub upload: Option<ChunkedUpload>,
    /// Ids of the posts that are public, in order.
    pub published: Vec<String>,
    /// The things that they lack.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// An uploaded file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Uploaded {
    /// Its id.
    pub id: String,
    /// True if it has its alt text.
    pub described: bool,
}

/// A file that is being uploaded.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ChunkedUpload {
    /// Its id.
    pub id: String,
    /// Its size in bytes.
    pub total: u64,
    /// The number of chunks that were sent.
    pub sent: u64,
    /// When the upload was completed; X is processing the file since then.
    pub finalized: Option<DateTime<Utc>>,
}

/// The next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NextStep {
    /// Upload the image with this index.
    Image(usize),
    /// Start to upload the video or GIF with this index.
    Initialize(usize),
    /// Send the next chunk of it.
    Append(usize),
    /// Complete the upload.
    Finalize(usize),
    /// Read its processing status.
    Status(usize),
    /// Set the alt text of the file with this index.
    Describe(usize, String),
    /// Publish the post with this index.
    Tweet(usize),
}

/// The smallest chunk. X accepts a thousand of them, each up to 5 MB.
const CHUNK_BYTES: u64 = 4 << 20;
const CHUNKS_MAX: u64 = 999;

impl ChunkedUpload {
    /// Returns the size of each chunk but the last, in bytes.
    pub fn size(&self) -> u64 {
        CHUNK_BYTES.max(self.total.div_ceil(CHUNKS_MAX))
    }

    fn next(&self, index: usize) -> NextStep {
        match self.finalized {
            _ if self.sent * self.size() < self.total => NextStep::Append(index),
            None => NextStep::Finalize(index),
            Some(_) => NextStep::Status(index),
        }
    }
}

impl State {
    /// Returns the next step of this draft.
    pub fn next(&self, draft: &Draft, settings: &Settings) -> NextStep {
        if !self.published.is_empty() {
            return NextStep::Tweet(self.published.len());
        }
        for (index, uploaded) in self.media.iter().enumerate() {
            // A video has no alt text.
            let file = draft.media.get(index).filter(|media| media.is_image());
            let alt = file.and_then(|_| alt_text(&settings.media_alt_texts, index));
            if let Some(alt) = alt.filter(|_| !uploaded.described) {
                return NextStep::Describe(index, alt.to_owned());
            }
        }
        let index = self.media.len();
        match (draft.media.get(index), &self.upload) {
            (None, _) => NextStep::Tweet(0),
            (Some(_), Some(pieces)) => pieces.next(index),
            (Some(media), None) if media.is_image() && media.mime != "image/gif" => {
                NextStep::Image(index)
            }
            (Some(_), None) => NextStep::Initialize(index),
        }
    }
}

impl NextStep {
    /// Returns it as the ledger shows it.
    pub fn step(&self, is_chain: bool) -> Step {
        let of = |name: &str, index: &usize| Step::prepare(format!("{name}_{}", index + 1));
        match self {
            Self::Image(index) => of("upload_image", index),
            Self::Initialize(index) => of("initialize_upload", index),
            Self::Append(index) => of("append_upload", index),
            Self::Finalize(index) => of("finalize_upload", index),
            Self::Status(index) => of("wait_media", index),
            Self::Describe(index, _) => of("set_alt_text", index),
            Self::Tweet(index) if is_chain => {
                Step::commit(format!("publish_segment_{}", index + 1))
            }
            Self::Tweet(_) => Step::commit("create_post"),
        }
    }
}
