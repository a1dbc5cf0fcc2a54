//! A user's posts and files.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::network::Medium;

#[derive(Default)]
pub(crate) struct State {
    pub posts: BTreeMap<u64, LemmyPost>,
    /// Uploaded images by their file names.
    pub images: BTreeMap<String, Medium>,
    /// Tokens that are logged in.
    pub tokens: BTreeSet<String>,
    /// Remote communities that were resolved.
    pub resolved: BTreeSet<String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct LemmyPost {
    pub id: u64,
    pub name: String,
    pub body: Option<String>,
    pub url: Option<String>,
    pub community_id: u64,
    pub nsfw: bool,
    pub language_id: i64,
    pub alt_text: Option<String>,
    pub custom_thumbnail: Option<String>,
    pub published_ms: i64,
    pub deleted: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    /// A new post or a new state of one.
    Post(Box<LemmyPost>),
    Image {
        file: String,
        medium: Medium,
    },
    LoggedIn {
        token: String,
    },
    /// A fault has expired all tokens.
    LoggedOut,
    Resolved {
        community: String,
    },
}

impl State {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Post(post) => {
                self.posts.insert(post.id, *post);
            }
            Change::Image { file, medium } => {
                self.images.insert(file, medium);
            }
            Change::LoggedIn { token } => {
                self.tokens.insert(token);
            }
            Change::LoggedOut => self.tokens.clear(),
            Change::Resolved { community } => {
                self.resolved.insert(community);
            }
        }
    }
}
