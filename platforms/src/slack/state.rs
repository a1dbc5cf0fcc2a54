//! The progress of a message.

use serde::{Deserialize, Serialize};

use super::client::File;
use crate::{Draft, Step};

/// The state that is stored between two calls.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct State {
    /// True if the bot is in the channel, or cannot join by itself.
    pub joined: bool,
    /// Files whose bytes Slack has, in order.
    pub files: Vec<File>,
    /// The upload address of the next file.
    pub place: Option<ReservedUpload>,
    /// The number of times the timestamp of the message with files was looked up, once it was created.
    pub completed: Option<u32>,
}

/// The upload address of a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReservedUpload {
    pub upload_url: String,
    pub file_id: String,
}

/// The next step.
pub enum NextStep {
    Join,
    Reserve(usize),
    Upload(usize, ReservedUpload),
    Post,
    Complete,
    FindMessage(u32),
}

impl State {
    /// Returns the next step for `draft`.
    pub fn next(&self, draft: &Draft) -> NextStep {
        match (&self.place, self.completed) {
            (_, Some(asked)) => NextStep::FindMessage(asked),
            _ if !self.joined => NextStep::Join,
            (Some(place), None) => NextStep::Upload(self.files.len(), place.clone()),
            (None, None) if self.files.len() < draft.media.len() => {
                NextStep::Reserve(self.files.len())
            }
            (None, None) if draft.media.is_empty() => NextStep::Post,
            (None, None) => NextStep::Complete,
        }
    }
}

impl NextStep {
    /// Returns it as the ledger shows it.
    pub fn step(&self) -> Step {
        match self {
            Self::Join => Step::prepare("join_channel"),
            Self::Reserve(index) => Step::prepare(format!("reserve_file_{}", index + 1)),
            Self::Upload(index, _) => Step::prepare(format!("upload_file_{}", index + 1)),
            Self::Post => Step::commit("post_message"),
            Self::Complete => Step::commit("complete_upload"),
            Self::FindMessage(_) => Step::confirm("find_message"),
        }
    }
}
