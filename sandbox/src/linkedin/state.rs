//! The state of one member and the member's page.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::network::Medium;

/// Files, posts and tokens.
#[derive(Default)]
pub(crate) struct State {
    /// By URN.
    pub assets: HashMap<String, Asset>,
    /// By the number in the URN, which grows with time.
    pub posts: BTreeMap<u64, Published>,
    pub tokens: HashMap<String, Token>,
    pub codes: HashMap<String, Code>,
    pub revoked: HashSet<String>,
    /// True if a fault has expired all access tokens.
    pub expired: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Image,
    Video,
    Document,
}

impl Kind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Video => "video",
            Self::Document => "document",
        }
    }
}

/// A file that is being uploaded, or is complete.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Asset {
    pub urn: String,
    pub kind: Kind,
    pub owner: String,
    /// Sizes of its parts.
    pub parts: Vec<u64>,
    /// The results, in the same order.
    pub received: BTreeMap<usize, Received>,
    /// The token that finalizes a video.
    pub token: String,
    pub thumbnail: bool,
    /// When processing ends, once all bytes have arrived.
    pub ready_ms: Option<i64>,
    pub flaw: Option<String>,
}

/// A received part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Received {
    pub etag: String,
    pub medium: Medium,
}

/// A post that is public.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Published {
    pub urn: String,
    pub author: String,
    pub at_ms: i64,
    /// As it was sent.
    pub commentary: String,
    /// As people see it.
    pub text: String,
    pub media: Vec<Medium>,
    /// Other fields, by name.
    pub extra: Map<String, Value>,
}

impl Published {
    /// Returns true for a name of the post, of any kind.
    pub fn is_named(&self, urn: &str) -> bool {
        let number = |urn: &str| urn.rsplit(':').next().map(str::to_owned);
        self.urn == urn || (number(urn) == number(&self.urn) && urn.starts_with("urn:li:"))
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Token {
    pub expires_ms: i64,
    pub scope: String,
    /// True for a refresh token.
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
    Asset(Asset),
    Received {
        urn: String,
        part: usize,
        received: Received,
        ready_ms: Option<i64>,
        flaw: Option<String>,
    },
    Thumbnail {
        urn: String,
    },
    Finished {
        urn: String,
        ready_ms: i64,
        flaw: Option<String>,
    },
    Published {
        number: u64,
        post: Published,
    },
    Deleted {
        number: u64,
    },
    Code {
        code: String,
        consent: Code,
    },
    /// Tokens were issued for a code or a refresh token.
    Tokens {
        code: Option<String>,
        tokens: Vec<(String, Token)>,
    },
    Revoked {
        token: String,
    },
    Expired(bool),
    /// The person let the app in again: the first tokens are valid.
    Revived,
}

impl State {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Asset(asset) => {
                self.assets.insert(asset.urn.clone(), asset);
            }
            Change::Received { urn, part, received, ready_ms, flaw } => {
                if let Some(asset) = self.assets.get_mut(&urn) {
                    asset.received.insert(part, received);
                    (asset.ready_ms, asset.flaw) = (ready_ms, flaw);
                }
            }
            Change::Thumbnail { urn } => {
                if let Some(asset) = self.assets.get_mut(&urn) {
                    asset.thumbnail = true;
                }
            }
            Change::Finished { urn, ready_ms, flaw } => {
                if let Some(asset) = self.assets.get_mut(&urn) {
                    (asset.ready_ms, asset.flaw) = (Some(ready_ms), flaw);
                }
            }
            Change::Published { number, post } => {
                self.posts.insert(number, post);
            }
            Change::Deleted { number } => {
                self.posts.remove(&number);
            }
            Change::Code { code, consent } => {
                self.codes.insert(code, consent);
            }
            Change::Tokens { code, tokens } => {
                if let Some(code) = code {
                    self.codes.remove(&code);
                }
                self.expired = false;
                self.tokens.extend(tokens);
            }
            Change::Revoked { token } => {
                self.revoked.insert(token);
            }
            Change::Expired(expired) => self.expired = expired,
            Change::Revived => {
                self.expired = false;
                self.revoked.clear();
            }
        }
    }
}
