//! What Instagram keeps of one account.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::graph::login::{self, Logins};
use crate::network::Medium;

/// One account's containers, posts and comments.
#[derive(Default)]
pub(crate) struct Home {
    pub logins: Logins,
    pub containers: HashMap<u64, Container>,
    pub media: BTreeMap<u64, Published>,
    pub comments: BTreeMap<u64, Comment>,
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

/// What a post is to be.
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
    /// Everything else that was asked for, by its parameter's name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// A post that is being made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Container {
    pub id: u64,
    pub at_ms: i64,
    /// When processing ends; `None` while its video is still to come.
    pub ready_ms: Option<i64>,
    /// The number of the reason why nothing comes of it.
    pub flaw: Option<u32>,
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
    Container(Container),
    /// A container's video arrived, or did not.
    Fetched {
        id: u64,
        ready_ms: i64,
        medium: Option<Medium>,
        flaw: Option<u32>,
    },
    Published {
        container: u64,
        id: u64,
        at_ms: i64,
        shortcode: String,
    },
    Comment(Comment),
}

impl Home {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Login(change) => self.logins.apply(change),
            Change::Container(container) => {
                drop(self.containers.insert(container.id, container));
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
                    self.media.insert(id, Published { id, at_ms, shortcode, content });
                }
            }
            Change::Comment(comment) => drop(self.comments.insert(comment.id, comment)),
        }
    }
}
