//! What Google keeps of the locations that one person manages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::google::login;
use crate::network::Medium;

/// Posts and tokens.
#[derive(Default)]
pub(crate) struct State {
    /// By number, which grows with time.
    pub posts: BTreeMap<u64, LocalPost>,
    pub logins: login::Logins,
}

/// A post.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct LocalPost {
    pub number: u64,
    /// `accounts/{a}/locations/{l}`
    pub parent: String,
    pub at_ms: i64,
    /// When Google has looked it over.
    pub ready_ms: i64,
    /// It breaks the rules for content.
    pub rejected: bool,
    /// As it was sent.
    pub resource: Value,
    pub media: Vec<Medium>,
}

impl LocalPost {
    /// Its full name.
    pub fn name(&self) -> String {
        format!("{}/localPosts/{}", self.parent, self.number)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Posted(LocalPost),
    Deleted { number: u64 },
    Login(login::Change),
}

impl State {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Posted(post) => drop(self.posts.insert(post.number, post)),
            Change::Deleted { number } => drop(self.posts.remove(&number)),
            Change::Login(change) => self.logins.apply(change),
        }
    }
}
