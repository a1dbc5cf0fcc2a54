//! The state of one account.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::network::Medium;

/// One account's files, posts and tokens.
#[derive(Default)]
pub(crate) struct State {
    pub media: HashMap<u64, Upload>,
    pub posts: BTreeMap<u64, Tweet>,
    pub codes: HashMap<String, Consent>,
    /// The expiry of access tokens.
    pub access: HashMap<String, i64>,
    /// Valid refresh tokens.
    pub refresh: HashSet<String>,
    /// Used refresh tokens: one that is used again may be stolen.
    pub spent: HashSet<String>,
    /// True if a fault has expired all access tokens.
    pub expired: bool,
    /// True if the account revoked the app's access.
    pub revoked: bool,
}

/// A file that was uploaded, or is being uploaded.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Upload {
    pub id: u64,
    pub at_ms: i64,
    pub category: String,
    pub media_type: String,
    pub total: u64,
    /// Sizes of the chunks, by index.
    #[serde(default)]
    pub pieces: BTreeMap<u32, u64>,
    /// The type detected from the file's first bytes.
    #[serde(default)]
    pub sniffed: Option<String>,
    /// SHA-256 of a file that was uploaded in one request.
    #[serde(default)]
    pub sha256: Option<String>,
    /// When processing ends; `None` until it is finalized.
    pub ready_ms: Option<i64>,
    pub flaw: Option<String>,
    #[serde(default)]
    pub alt: Option<String>,
    /// The address of a file that was not fetched, so that its size and hash are unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl Upload {
    /// Returns it as a post shows it.
    pub fn medium(&self) -> Medium {
        Medium {
            url: self.source.clone(),
            size: self.source.is_none().then_some(self.total),
            mime: self.media_type.clone(),
            alt: self.alt.clone(),
            sha256: self.sha256.clone(),
        }
    }
}

/// A post.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Tweet {
    pub id: u64,
    pub at_ms: i64,
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<u64>,
    /// The ids of its earlier versions, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<u64>,
    /// Other parameters such as poll and labels, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// An authorization code that was not exchanged yet.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Consent {
    pub redirect_uri: String,
    pub challenge: String,
    pub scope: String,
    pub expires_ms: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    /// A new file, or its new state.
    Upload(Upload),
    Tweet(Tweet),
    Deleted {
        id: u64,
    },
    Code {
        code: String,
        consent: Consent,
    },
    /// A code or a refresh token, which is now invalid, was exchanged for tokens.
    Issued {
        used: String,
        access: String,
        refresh: Option<String>,
        expires_ms: i64,
    },
    /// A refresh token was used twice: all tokens are revoked.
    Stolen,
    Revoked,
    Expired(bool),
    /// The account let the app in again: its first tokens are valid.
    Revived,
}

impl State {
    /// Returns the ids of all versions of a post, oldest first.
    pub fn versions(&self, tweet: &Tweet) -> Vec<u64> {
        let newest = self.posts.values().rev().find(|one| one.before.contains(&tweet.id));
        let newest = newest.unwrap_or(tweet);
        newest.before.iter().copied().chain([newest.id]).collect()
    }

    /// Returns the ids of versions that an edit has replaced. They can still be read.
    pub fn replaced(&self) -> HashSet<u64> {
        self.posts.values().flat_map(|one| one.before.iter().copied()).collect()
    }

    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Upload(upload) => drop(self.media.insert(upload.id, upload)),
            Change::Tweet(tweet) => drop(self.posts.insert(tweet.id, tweet)),
            Change::Deleted { id } => drop(self.posts.remove(&id)),
            Change::Code { code, consent } => drop(self.codes.insert(code, consent)),
            Change::Issued { used, access, refresh, expires_ms } => {
                (self.expired, self.revoked) = (false, false);
                if self.codes.remove(&used).is_none() {
                    self.refresh.remove(&used);
                    self.spent.insert(used);
                }
                self.access.insert(access, expires_ms);
                self.refresh.extend(refresh);
            }
            Change::Stolen | Change::Revoked => {
                self.revoked = true;
                self.access.clear();
                self.refresh.clear();
            }
            Change::Expired(expired) => self.expired = expired,
            Change::Revived => {
                (self.expired, self.revoked) = (false, false);
                self.spent.clear();
            }
        }
    }
}
