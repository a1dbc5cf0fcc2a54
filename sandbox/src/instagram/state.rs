//! The state of one account.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::graph::containers::{self, ContainerStore};
use crate::graph::login::{self, Logins};
use crate::mailbox::{self, Mailbox};
use crate::network::Medium;

pub(crate) type Container = containers::Container<Content, Flaw>;
pub(crate) type Published = containers::Published<Content>;
/// The error subcode of a failed container.
pub(crate) type Flaw = u32;

/// One account's containers, posts and comments.
#[derive(Default)]
pub(crate) struct State {
    pub logins: Logins,
    pub made: ContainerStore<Content>,
    pub comments: BTreeMap<u64, Comment>,
    pub mail: Mailbox,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Kind {
    Image,
    Video,
    Reels,
    Stories,
    Carousel,
}

/// The content of a post.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Content {
    pub kind: Kind,
    pub caption: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub medium: Option<Medium>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<u64>,
    #[serde(default)]
    pub carousel_item: bool,
    /// All other parameters, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

impl containers::Content for Content {
    type Flaw = Flaw;

    fn timed_out() -> Flaw {
        2_207_003
    }

    fn children(&self) -> &[u64] {
        &self.children
    }

    fn medium(&mut self) -> &mut Option<Medium> {
        &mut self.medium
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Comment {
    pub id: u64,
    pub at_ms: i64,
    pub media: u64,
    pub text: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Login(login::Change),
    Comment(Comment),
    Mail(mailbox::Change),
    #[serde(untagged)]
    Made(containers::Change<Content, Flaw>),
}

impl State {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Login(change) => self.logins.apply(change),
            Change::Made(change) => self.made.apply(change),
            Change::Mail(change) => self.mail.apply(change),
            Change::Comment(comment) => drop(self.comments.insert(comment.id, comment)),
        }
    }
}
