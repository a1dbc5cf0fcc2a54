//! The state of the locations that one user manages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::media::Medium as ProfileMedium;
use super::reviews::{Answered, Decisions};
use crate::google::login;
use crate::mailbox::{self, Mailbox};
use crate::network::Medium;

/// Posts and tokens.
#[derive(Default)]
pub(crate) struct State {
    /// By number, which grows with time.
    pub posts: BTreeMap<u64, LocalPost>,
    pub logins: login::Logins,
    /// Reviews.
    pub mail: Mailbox,
    /// When reviews were last changed, by id.
    pub edited: BTreeMap<String, i64>,
    /// Replies to reviews, by the reviews' ids.
    pub replies: BTreeMap<String, Answered>,
    /// Photos and videos, by name.
    pub media: BTreeMap<String, ProfileMedium>,
    /// The review decisions.
    pub decisions: Decisions,
}

/// A post.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct LocalPost {
    pub number: u64,
    /// `accounts/{a}/locations/{l}`
    pub parent: String,
    pub at_ms: i64,
    /// When Google has reviewed it.
    pub ready_ms: i64,
    /// True if it violates the content policy.
    pub rejected: bool,
    /// As it was sent.
    pub resource: Value,
    pub media: Vec<Medium>,
}

impl LocalPost {
    /// Returns its full name.
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
    Mail(mailbox::Change),
    Answered { id: String, answered: Option<Answered> },
    Medium(ProfileMedium),
    MediumGone { name: String },
    Decides(Decisions),
}

impl State {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Posted(post) => drop(self.posts.insert(post.number, post)),
            Change::Deleted { number } => drop(self.posts.remove(&number)),
            Change::Login(change) => self.logins.apply(change),
            Change::Mail(change) => {
                if let mailbox::Change::Edited { id, at_ms, .. } = &change {
                    self.edited.insert(id.clone(), *at_ms);
                }
                self.mail.apply(change);
            }
            Change::Answered { id, answered: Some(answered) } => {
                self.replies.insert(id, answered);
            }
            Change::Answered { id, answered: None } => drop(self.replies.remove(&id)),
            Change::Medium(medium) => drop(self.media.insert(medium.kept_as(), medium)),
            Change::MediumGone { name } => drop(self.media.remove(&name)),
            Change::Decides(decisions) => self.decisions = decisions,
        }
    }
}
