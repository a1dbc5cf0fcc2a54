//! The state of one creator.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::network::Medium;

/// Unfinished posts, posts, and tokens.
#[derive(Default)]
pub(crate) struct State {
    /// By `publish_id`.
    pub begun: HashMap<String, Begun>,
    /// By id, which grows with time.
    pub posts: BTreeMap<u64, Post>,
    pub tokens: HashMap<String, Token>,
    pub codes: HashMap<String, Code>,
    /// Revoked tokens and used refresh tokens.
    pub dead: HashSet<String>,
    /// True if a fault has expired all access tokens.
    pub expired: bool,
}

/// An initialized post.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Begun {
    pub publish_id: String,
    pub at_ms: i64,
    /// The post's text and settings.
    pub info: Map<String, Value>,
    /// The upload of a video.
    pub upload: Option<Upload>,
    /// Its post, once it is complete.
    pub post: Option<u64>,
    /// When processing ends, once all bytes have arrived.
    pub ready_ms: Option<i64>,
    pub flaw: Option<String>,
}

/// The upload of a video.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Upload {
    pub token: String,
    pub size: u64,
    pub chunk: u64,
    pub count: u64,
    pub received: u64,
    /// The media type, from its first bytes.
    pub mime: String,
}

/// A post.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Post {
    pub id: u64,
    pub at_ms: i64,
    pub ready_ms: i64,
    pub media: Vec<Medium>,
    pub is_photo: bool,
    pub info: Map<String, Value>,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Token {
    pub expires_ms: i64,
    pub scope: String,
    pub refresh: bool,
}

/// An authorization code that was not exchanged yet.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Code {
    pub redirect_uri: String,
    pub scope: String,
    pub expires_ms: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Begun(Begun),
    Received {
        publish_id: String,
        received: u64,
        mime: Option<String>,
    },
    /// All bytes have arrived: there is a post, or a reason why it failed.
    Finished {
        publish_id: String,
        ready_ms: i64,
        post: Option<Post>,
        flaw: Option<String>,
    },
    /// The creator made a post natively in the app.
    Posted(Post),
    Deleted {
        id: u64,
    },
    Code {
        code: String,
        consent: Code,
    },
    /// Tokens were issued for this code or refresh token.
    Tokens {
        spent: String,
        tokens: Vec<(String, Token)>,
    },
    /// The creator's authorization was revoked.
    Revoked,
    Expired(bool),
    /// The creator let the app in again: the first tokens are valid.
    Revived,
}

impl State {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Begun(begun) => {
                self.begun.insert(begun.publish_id.clone(), begun);
            }
            Change::Received { publish_id, received, mime } => {
                let begun = self.begun.get_mut(&publish_id);
                if let Some(upload) = begun.and_then(|begun| begun.upload.as_mut()) {
                    upload.received = received;
                    upload.mime = mime.unwrap_or_else(|| std::mem::take(&mut upload.mime));
                }
            }
            Change::Finished { publish_id, ready_ms, post, flaw } => {
                if let Some(begun) = self.begun.get_mut(&publish_id) {
                    begun.ready_ms = Some(ready_ms);
                    begun.flaw = flaw;
                    begun.post = post.as_ref().map(|post| post.id);
                    if let Some(upload) = begun.upload.as_mut() {
                        upload.received = upload.size;
                    }
                }
                self.posts.extend(post.map(|post| (post.id, post)));
            }
            Change::Posted(post) => drop(self.posts.insert(post.id, post)),
            Change::Deleted { id } => drop(self.posts.remove(&id)),
            Change::Code { code, consent } => {
                self.codes.insert(code, consent);
            }
            Change::Tokens { spent, tokens } => {
                self.codes.remove(&spent);
                self.dead.insert(spent);
                self.expired = false;
                self.tokens.extend(tokens);
            }
            Change::Revoked => {
                let all: Vec<String> = self.tokens.drain().map(|(token, _)| token).collect();
                self.dead.extend(all);
                self.dead.insert(String::new());
            }
            Change::Expired(expired) => self.expired = expired,
            Change::Revived => {
                self.expired = false;
                self.dead.clear();
            }
        }
    }

    /// Returns true if a token is no longer valid. The initial tokens of an account end with the authorization.
    pub fn is_dead(&self, token: &str) -> bool {
        let revoked = self.dead.contains("") && !self.tokens.contains_key(token);
        revoked || self.dead.contains(token)
    }
}
