//! A channel's state.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::entities::Entity;

/// One channel and its bot.
#[derive(Default)]
pub(crate) struct State {
    pub messages: BTreeMap<i64, Message>,
    pub last_id: i64,
    /// Files that were sent, by id, because they can be sent again.
    pub files: HashMap<String, File>,
    /// True if a fault has revoked the bot's token.
    pub revoked: bool,
}

/// One message. Fields that most messages lack are boxed, because there may be millions of messages.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Message {
    pub id: i64,
    pub at_ms: i64,
    /// The text, or the caption of media.
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<Entity>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Box<Rest>>,
}

/// Fields that few messages have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<File>,
    /// The album that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyboard: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_preview: Option<Value>,
    #[serde(default)]
    pub silent: bool,
    #[serde(default)]
    pub spoiler: bool,
}

/// The form in which a file was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Photo,
    Video,
    Animation,
    Document,
    Audio,
    LivePhoto,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct File {
    pub id: String,
    pub kind: Kind,
    pub mime: String,
    pub size: u64,
    pub sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The address it was fetched from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    pub width: u32,
    pub height: u32,
    pub duration: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    /// One message, or all of an album.
    Sent(Vec<Message>),
    Deleted {
        id: i64,
    },
    Revoked(bool),
}

impl State {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Sent(messages) => {
                for message in messages {
                    self.last_id = self.last_id.max(message.id);
                    if let Some(file) = message.rest.as_ref().and_then(|rest| rest.file.as_ref()) {
                        self.files.insert(file.id.clone(), file.clone());
                    }
                    self.messages.insert(message.id, message);
                }
            }
            Change::Deleted { id } => {
                self.messages.remove(&id);
            }
            Change::Revoked(revoked) => self.revoked = revoked,
        }
    }
}
