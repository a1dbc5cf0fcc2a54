//! Messages and comments of accounts: reading them, receiving them by webhook, and answering them.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{RateLimit, RemoteChanges, Result, Session, recent_posts::ListPage};

/// The rules of a network's inbox.
#[derive(Debug, Clone, Copy)]
pub struct InboxRules {
    /// True if the network supports direct messages.
    pub messages: bool,
    /// The longest text of a message, and whether it is counted in bytes.
    pub message_max: (usize, bool),
    /// The longest text of an answer to a comment, in characters.
    pub comment_max: usize,
    /// True if comments of others can be deleted.
    pub deletes: bool,
    /// True if comments can be answered with a direct message.
    pub private_replies: bool,
    /// True if only comments directly below a post can be hidden.
    pub hides_top_level_only: bool,
    /// True if lists leave out hidden comments, as they do deleted ones.
    pub hidden_are_unlisted: bool,
    /// Permissions required for reading.
    pub permissions: &'static [&'static str],
}

/// A person on a network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Person {
    /// The network's id; empty if the network does not give it.
    pub id: String,
    /// The username.
    pub username: Option<String>,
    /// The display name.
    pub name: Option<String>,
    /// The address of the picture.
    pub avatar_url: Option<String>,
}

/// A file of a message or comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// `image`, `video`, `audio`, `file`, `share`, `story`, `sticker`, `other`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The network's address of it, which may expire soon.
    pub url: Option<String>,
}

/// A direct message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteMessage {
    /// The network's id.
    pub id: String,
    /// The person on the other side.
    pub participant: Person,
    /// True if the account sent it.
    pub out: bool,
    /// The text.
    pub text: String,
    /// The files.
    pub attachments: Vec<Attachment>,
    /// When it was sent.
    pub at: DateTime<Utc>,
    /// Our own id, which we sent with it.
    pub mark: Option<String>,
}

/// A comment on a post, or a reply to one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteComment {
    /// The network's id.
    pub id: String,
    /// The post's id.
    pub post: String,
    /// The comment that it answers, if it answers one.
    pub parent: Option<String>,
    /// The author.
    pub author: Person,
    /// True if the account wrote it.
    pub own: bool,
    /// The text.
    pub text: String,
    /// The files.
    pub attachments: Vec<Attachment>,
    /// The number of likes, if known.
    pub like_count: Option<i64>,
    /// The number of replies, if known.
    pub reply_count: Option<i64>,
    /// True if it is hidden; `None` if unknown.
    pub hidden: Option<bool>,
    /// The public address.
    pub url: Option<String>,
    /// When it was written.
    pub at: DateTime<Utc>,
}

/// A post whose comments can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemotePost {
    /// The network's id.
    pub id: String,
    /// When it was made.
    pub at: DateTime<Utc>,
}

/// A page of a list of which each entry is read alone.
#[derive(Debug)]
pub struct InboxPage<T> {
    /// The items that could be read.
    pub page: ListPage<T>,
    /// The ids of entries of an unknown form, which are there, whatever they say; an empty one where an entry has no id.
    pub unread: Vec<String>,
}

impl<T> InboxPage<T> {
    /// Creates a page all of which was read.
    #[must_use]
    pub const fn whole(page: ListPage<T>) -> Self {
        Self { page, unread: Vec::new() }
    }
}

/// An event that a network sent by webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboundEvent {
    /// The network's id of the account.
    pub account: String,
    /// The kind of the object, by the network's name.
    pub field: String,
    /// The network's id of the object.
    pub id: String,
    /// The kind of change, such as `add` or `unsend`.
    pub verb: String,
    /// When it happened.
    pub at: DateTime<Utc>,
    /// The object.
    pub item: InboundItem,
}

/// The object of a webhook event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum InboundItem {
    /// A message was sent, by either side.
    Message(RemoteMessage),
    /// A message was unsent.
    Unsent {
        /// The message.
        id: String,
        /// The person on the other side.
        participant: Person,
        /// True if the account sent it.
        out: bool,
    },
    /// A comment was written or changed.
    Comment(RemoteComment),
    /// A comment was deleted.
    CommentDeleted {
        /// The comment.
        id: String,
        /// The post that it was on, if known.
        post: Option<String>,
    },
    /// A comment was hidden or unhidden.
    CommentHidden {
        /// The comment.
        id: String,
        /// True if it is hidden.
        hidden: bool,
    },
}

/// The longest text of a stranger that is kept, and the longest name, in characters.
pub(crate) const TEXT_MAX: usize = 10_000;
pub(crate) const NAME_MAX: usize = 200;

/// Cuts a stranger's text off and removes control characters.
pub(crate) fn bound_text(text: &mut String, most: usize) {
    let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if text.len() > most || text.contains(is_odd) {
        *text = text.chars().filter(|c| !is_odd(*c)).take(most).collect();
    }
}

impl Person {
    /// Bounds the names.
    pub fn bound(&mut self) {
        for name in [&mut self.username, &mut self.name].into_iter().flatten() {
            bound_text(name, NAME_MAX);
        }
    }
}

impl RemoteMessage {
    /// Bounds what strangers have written.
    pub fn bound(&mut self) {
        bound_text(&mut self.text, TEXT_MAX);
        self.participant.bound();
    }
}

impl RemoteComment {
    /// Bounds what strangers have written.
    pub fn bound(&mut self) {
        bound_text(&mut self.text, TEXT_MAX);
        self.author.bound();
    }
}

impl InboundItem {
    /// Bounds what strangers have written.
    pub fn bound(&mut self) {
        match self {
            Self::Message(message) => message.bound(),
            Self::Comment(comment) => comment.bound(),
            Self::Unsent { participant, .. } => participant.bound(),
            Self::CommentDeleted { .. } | Self::CommentHidden { .. } => {}
        }
    }
}

/// The messages and comments of a network's accounts.
#[async_trait]
pub trait Inbox: RemoteChanges {
    /// Returns the rules of the inbox.
    fn rules(&self) -> InboxRules;

    /// Returns the app's call quota for all accounts together, if known.
    fn quota(&self) -> Option<RateLimit> {
        None
    }

    /// Subscribes to the account's webhooks.
    ///
    /// # Errors
    /// The network's error; a missing permission is [`crate::ErrorKind::PermissionMissing`].
    async fn subscribe(&self, session: &Session) -> Result<()>;

    /// Reads a page of conversations, latest first, each with its latest messages.
    ///
    /// # Errors
    /// The network's error.
    async fn conversations(
        &self,
        session: &Session,
        next: Option<String>,
    ) -> Result<InboxPage<Vec<RemoteMessage>>> {
        let _ = (session, next);
        Ok(InboxPage::whole(ListPage { items: Vec::new(), next: None }))
    }

    /// Reads the account's recent posts, latest first.
    ///
    /// # Errors
    /// The network's error.
    async fn recent_posts(&self, session: &Session) -> Result<InboxPage<RemotePost>>;

    /// Reads a page of the comments on a post, including replies.
    ///
    /// # Errors
    /// The network's error.
    async fn comments(
        &self,
        session: &Session,
        post: &str,
        next: Option<String>,
    ) -> Result<InboxPage<RemoteComment>>;

    /// Looks up a comment that is missing in a list. Returns whether it is hidden, or `None` if it no longer exists.
    /// Called only for networks whose lists leave out hidden comments.
    ///
    /// # Errors
    /// The network's error.
    async fn unlisted_comment(&self, session: &Session, comment: &str) -> Result<Option<bool>> {
        let _ = (session, comment);
        Ok(None)
    }

    /// Reads the events in the body of a webhook; unknown ones are left out.
    fn read_webhook(&self, body: &Value) -> Vec<InboundEvent>;
}
