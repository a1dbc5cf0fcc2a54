//! Messages, comments and reviews of an account, as all networks store them, and their changes through the control API.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::env::rfc3339;

/// The kind of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ItemKind {
    Message,
    Comment,
    Review,
}

/// A person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Author {
    pub id: String,
    pub username: String,
}

/// A file of an item. Its bytes are not stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ItemFile {
    #[serde(rename = "type")]
    pub kind: String,
    pub url: String,
}

/// One message, comment or review.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Item {
    pub id: String,
    pub kind: ItemKind,
    pub at_ms: i64,
    pub author: Author,
    /// True if the account wrote it.
    #[serde(default)]
    pub own: bool,
    pub text: String,
    /// The person on the other side of a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<Author>,
    /// The post that a comment is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post: Option<String>,
    /// The comment that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<ItemFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rating: Option<u8>,
    #[serde(default)]
    pub hidden: bool,
    #[serde(default)]
    pub deleted: bool,
    /// True once its one private reply was sent.
    #[serde(default)]
    pub private_reply: bool,
    /// Metadata that the sender added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<String>,
}

impl Item {
    /// Returns it as the control API shows it.
    pub fn shown(&self) -> Value {
        let mut shown = json!(self);
        if let Some(fields) = shown.as_object_mut() {
            fields.remove("at_ms");
            fields.insert("created_at".into(), json!(rfc3339(self.at_ms)));
        }
        shown
    }
}

/// The items of one account.
#[derive(Default)]
pub(crate) struct Mailbox {
    items: BTreeMap<String, Item>,
}

/// A change of the items.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Put(Box<Item>),
    Hidden { id: String, hidden: bool },
    Edited { id: String, text: Option<String>, rating: Option<u8>, at_ms: i64 },
    Deleted { id: String },
    PrivateReply { id: String },
}

impl Mailbox {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Put(item) => drop(self.items.insert(item.id.clone(), *item)),
            Change::Hidden { id, hidden } => self.with(&id, |item| item.hidden = hidden),
            Change::Deleted { id } => self.with(&id, |item| item.deleted = true),
            Change::PrivateReply { id } => self.with(&id, |item| item.private_reply = true),
            Change::Edited { id, text, rating, .. } => self.with(&id, |item| {
                if let Some(text) = text {
                    item.text = text;
                }
                item.rating = rating.or(item.rating);
            }),
        }
    }

    fn with(&mut self, id: &str, change: impl FnOnce(&mut Item)) {
        if let Some(item) = self.items.get_mut(id) {
            change(item);
        }
    }

    /// Returns an item, unless it is deleted.
    pub fn get(&self, id: &str) -> Option<&Item> {
        self.items.get(id).filter(|item| !item.deleted)
    }

    /// Returns all items including deleted ones, latest last.
    pub fn all(&self) -> Vec<&Item> {
        let mut all: Vec<_> = self.items.values().collect();
        all.sort_by(|a, b| (a.at_ms, &a.id).cmp(&(b.at_ms, &b.id)));
        all
    }

    /// Returns the items of a kind that are not deleted, latest last.
    pub fn visible(&self, kind: ItemKind) -> Vec<&Item> {
        self.all().into_iter().filter(|item| item.kind == kind && !item.deleted).collect()
    }
}

/// A request to the control API to create an item as another user.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewItem {
    pub remote_id: String,
    pub kind: ItemKind,
    pub text: String,
    #[serde(default)]
    pub author: Option<Author>,
    #[serde(default)]
    pub post_id: Option<String>,
    #[serde(default)]
    pub parent_id: Option<String>,
    #[serde(default)]
    pub rating: Option<u8>,
    #[serde(default)]
    pub attachments: Vec<ItemFile>,
    #[serde(default)]
    pub created_at: Option<String>,
}

impl NewItem {
    /// Returns the author.
    pub fn author(&self) -> Author {
        let mut author = self.author.clone().unwrap_or_default();
        if author.id.is_empty() {
            author.id = "7000000000000001".into();
        }
        if author.username.is_empty() {
            author.username = "simulated.person".into();
        }
        author
    }
}

/// A request to the control API to change an item as another user.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ItemChanges {
    pub remote_id: String,
    #[serde(default)]
    pub text: Option<String>,
    #[serde(default)]
    pub hidden: Option<bool>,
    #[serde(default)]
    pub rating: Option<u8>,
}

/// The change of an item that a webhook reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemEvent {
    Add,
    Edit,
    Remove,
    Hide,
    Unhide,
}
