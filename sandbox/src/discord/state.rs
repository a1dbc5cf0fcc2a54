//! The state of one webhook.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The messages of one webhook.
#[derive(Default)]
pub(crate) struct State {
    pub messages: BTreeMap<u64, Message>,
    /// True if a fault has revoked the token.
    pub revoked: bool,
}

/// One message. Fields that most messages lack are boxed, because there may be millions of messages.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Message {
    pub id: u64,
    pub at_ms: i64,
    pub content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_ms: Option<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_mentions: Option<Box<Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Box<Rest>>,
    /// The thread of a forum that it is in; a message that opens one has the thread's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<Box<Thread>>,
}

/// The thread of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Thread {
    pub id: u64,
    /// Its name, if the message opens it.
    pub name: Option<String>,
}

/// Fields that few messages have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rest {
    pub username: Option<String>,
    pub avatar_url: Option<String>,
    pub embeds: Vec<Value>,
    pub poll: Option<Value>,
    pub flags: u64,
    pub tts: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Attachment {
    pub id: u64,
    pub filename: String,
    pub description: Option<String>,
    pub mime: String,
    pub size: u64,
    pub sha256: String,
    pub dimensions: Option<(u32, u32)>,
    /// The address of a file that was not fetched, so that its size and hash are unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Sent(Message),
    Edited { id: u64, at_ms: i64, content: String },
    Deleted { id: u64 },
    Revoked(bool),
}

impl State {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Sent(message) => {
                self.messages.insert(message.id, message);
            }
            Change::Edited { id, at_ms, content } => {
                if let Some(message) = self.messages.get_mut(&id) {
                    message.content = content;
                    message.edited_ms = Some(at_ms);
                }
            }
            Change::Deleted { id } => {
                self.messages.remove(&id);
            }
            Change::Revoked(revoked) => self.revoked = revoked,
        }
    }
}
