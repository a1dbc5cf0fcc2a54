//! The channel of an account.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::network::Medium;

#[derive(Default)]
pub(crate) struct State {
    /// By their timestamps, in microseconds.
    pub messages: BTreeMap<u64, Message>,
    pub files: BTreeMap<String, File>,
    pub joined: bool,
    /// The rotating tokens; the bot's initial one is not among them.
    pub tokens: BTreeMap<String, Token>,
    /// True if a fault has expired the rotating tokens.
    pub expired: bool,
    pub revoked: bool,
}

/// A rotating token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Token {
    /// When it expires; a refresh token does not.
    pub expires_ms: Option<i64>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Message {
    /// Its timestamp in microseconds.
    pub ts: u64,
    pub text: String,
    pub is_markdown: bool,
    pub blocks: Vec<Value>,
    pub files: Vec<String>,
    pub metadata: Option<Value>,
    pub thread: Option<u64>,
    pub is_broadcast: bool,
    pub unfurls: Vec<(String, bool)>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct File {
    pub id: String,
    pub name: String,
    pub title: String,
    pub length: u64,
    /// Absent until its bytes have arrived.
    pub medium: Option<Medium>,
    pub alt: Option<String>,
    /// The message that shares it, and when that becomes visible.
    pub shared: Option<(u64, i64)>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Joined,
    /// A new file or a new state of one.
    File(Box<File>),
    /// A message, and the files it shares.
    Message {
        message: Box<Message>,
        at_ms: i64,
        titles: Vec<String>,
    },
    Deleted {
        ts: u64,
    },
    /// Tokens were issued for a code, or for a refresh token, which is consumed.
    Tokens {
        spent: Option<String>,
        tokens: Vec<(String, Token)>,
    },
    /// The tokens expire, or are valid again.
    Expired(bool),
    Revoked(bool),
}

impl State {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Joined => self.joined = true,
            Change::File(file) => {
                self.files.insert(file.id.clone(), *file);
            }
            Change::Message { message, at_ms, titles } => {
                for (id, title) in message.files.iter().zip(titles) {
                    if let Some(file) = self.files.get_mut(id) {
                        file.shared = Some((message.ts, at_ms));
                        file.title = title;
                    }
                }
                self.messages.insert(message.ts, *message);
            }
            Change::Deleted { ts } => {
                self.messages.remove(&ts);
            }
            Change::Tokens { spent, tokens } => {
                (self.expired, self.revoked) = (false, false);
                if let Some(spent) = spent {
                    self.tokens.remove(&spent);
                }
                self.tokens.extend(tokens);
            }
            Change::Expired(expired) => {
                self.expired = expired;
                self.revoked &= expired;
            }
            Change::Revoked(revoked) => {
                self.revoked = revoked;
                self.tokens.retain(|_, _| !revoked);
            }
        }
    }
}
