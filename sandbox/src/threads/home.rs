//! What Threads keeps of one user.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::network::Medium;

/// One user's containers, posts and tokens.
#[derive(Default)]
pub(crate) struct Home {
    pub containers: HashMap<u64, Container>,
    pub posts: BTreeMap<u64, Published>,
    pub tokens: HashMap<String, Token>,
    pub codes: HashMap<String, Code>,
    /// Every token is expired, by a fault.
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

/// What a post is to be.
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
    /// Everything else that was asked for, by its parameter's name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// A post that is being made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Container {
    pub id: u64,
    pub at_ms: i64,
    /// When processing ends; `None` while its video is still being fetched.
    pub ready_ms: Option<i64>,
    pub flaw: Option<String>,
    #[serde(default)]
    pub published: bool,
    pub content: Content,
}

/// A post that is public.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Published {
    pub id: u64,
    pub at_ms: i64,
    pub shortcode: String,
    pub content: Content,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Token {
    pub issued_ms: i64,
    pub expires_ms: i64,
    pub long: bool,
}

/// A consent that waits to be exchanged.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Code {
    pub redirect_uri: String,
    pub expires_ms: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Container(Container),
    /// A container's video arrived, or did not.
    Fetched {
        id: u64,
        ready_ms: i64,
        medium: Option<Medium>,
        flaw: Option<String>,
    },
    Published {
        container: u64,
        id: u64,
        at_ms: i64,
        shortcode: String,
    },
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
}

impl Home {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Container(container) => {
                self.containers.insert(container.id, container);
            }
            Change::Fetched { id, ready_ms, medium, flaw } => {
                if let Some(container) = self.containers.get_mut(&id) {
                    container.ready_ms = Some(ready_ms);
                    container.content.medium = medium.or(container.content.medium.take());
                    container.flaw = flaw;
                }
            }
            Change::Published { container, id, at_ms, shortcode } => {
                if let Some(container) = self.containers.get_mut(&container) {
                    container.published = true;
                    let content = container.content.clone();
                    self.posts.insert(id, Published { id, at_ms, shortcode, content });
                }
            }
            Change::Deleted { id } => {
                self.posts.remove(&id);
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
        }
    }
}
