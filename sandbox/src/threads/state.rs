//! The state of one user.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::graph::containers::{self, ContainerStore};
use crate::mailbox::{self, Mailbox};
use crate::network::Medium;

pub(crate) type Container = containers::Container<Content, Flaw>;
pub(crate) type Published = containers::Published<Content>;
/// Why a container fails.
pub(crate) type Flaw = String;

/// One user's containers, posts and tokens.
#[derive(Default)]
pub(crate) struct State {
    pub made: ContainerStore<Content>,
    pub tokens: HashMap<String, Token>,
    pub codes: HashMap<String, Code>,
    pub mail: Mailbox,
    /// True if a fault has expired all tokens.
    pub expired: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum MediaType {
    Text,
    Image,
    Video,
    Carousel,
}

/// The content of a post.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Content {
    pub media_type: MediaType,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub medium: Option<Medium>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<u64>,
    #[serde(default)]
    pub carousel_item: bool,
    /// All other parameters, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

impl containers::Content for Content {
    type Flaw = Flaw;

    fn timed_out() -> Flaw {
        "FAILED_DOWNLOADING_VIDEO".into()
    }

    fn children(&self) -> &[u64] {
        &self.children
    }

    fn medium(&mut self) -> &mut Option<Medium> {
        &mut self.medium
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Token {
    pub issued_ms: i64,
    pub expires_ms: i64,
    pub long: bool,
}

/// An authorization code that was not exchanged yet.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Code {
    pub redirect_uri: String,
    pub expires_ms: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Deleted {
        id: u64,
    },
    Token {
        token: String,
        life: Token,
    },
    Code {
        code: String,
        consent: Code,
    },
    /// A code was exchanged for a token.
    Exchanged {
        code: String,
        token: String,
        life: Token,
    },
    Expired(bool),
    Mail(mailbox::Change),
    #[serde(untagged)]
    Made(containers::Change<Content, Flaw>),
}

impl State {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Made(change) => self.made.apply(change),
            Change::Deleted { id } => {
                self.made.posts.remove(&id);
            }
            Change::Token { token, life } => {
                self.expired = false;
                self.tokens.insert(token, life);
            }
            Change::Code { code, consent } => {
                self.codes.insert(code, consent);
            }
            Change::Exchanged { code, token, life } => {
                self.codes.remove(&code);
                self.expired = false;
                self.tokens.insert(token, life);
            }
            Change::Expired(expired) => self.expired = expired,
            Change::Mail(change) => self.mail.apply(change),
        }
    }
}
