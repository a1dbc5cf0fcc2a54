//! Messages and comments of an account: what networks hold, what they send by webhook, and how they are answered.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Changes, RateLimit, Result, Session, recent_posts::Page};

/// The rules of a network's inbox.
#[derive(Debug, Clone, Copy)]
pub struct InboxRules {
    /// True if the network has direct messages.
    pub messages: bool,
    /// The longest text of a message, and whether bytes are counted.
    pub message_max: (usize, bool),
    /// The longest text of an answer to a comment, in characters.
    pub comment_max: usize,
    /// Comments of others can be deleted.
    pub deletes: bool,
    /// Comments can be answered with a direct message.
    pub private_replies: bool,
    /// Only comments directly below a post can be hidden.
    pub hides_top_level_only: bool,
    /// Hidden comments are missing in lists, as deleted ones are.
    pub hidden_are_unlisted: bool,
    /// Permissions without which nothing can be read.
    pub permissions: &'static [&'static str],
}

/// A person on a network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Person {
    /// The network's id; empty if it does not tell.
    pub id: String,
    /// User name.
    pub username: Option<String>,
    /// Name.
    pub name: Option<String>,
    /// Picture.
    pub avatar_url: Option<String>,
}

/// A file of a message or comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// `image`, `video`, `audio`, `file`, `share`, `story`, `sticker`, `other`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The network's address of it, which may end soon.
    pub url: Option<String>,
}

/// A direct message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteMessage {
    /// The network's id.
    pub id: String,
    /// The person on the other side.
    pub participant: Person,
    /// The account sent it.
    pub out: bool,
    /// The text.
    pub text: String,
    /// The files.
    pub attachments: Vec<Attachment>,
    /// The time at which it was sent.
    pub at: DateTime<Utc>,
    /// The mark that we sent with it.
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
    /// The account wrote it.
    pub own: bool,
    /// The text.
    pub text: String,
    /// The files.
    pub attachments: Vec<Attachment>,
    /// Likes, if they are told.
    pub like_count: Option<i64>,
    /// Replies, if they are told.
    pub reply_count: Option<i64>,
    /// It is hidden, if that is told.
    pub hidden: Option<bool>,
    /// The public address.
    pub url: Option<String>,
    /// The time at which it was written.
    pub at: DateTime<Utc>,
}

/// A post whose comments can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemotePost {
    /// The network's id.
    pub id: String,
    /// The time at which it was made.
    pub at: DateTime<Utc>,
}

/// One thing that a network sent by webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inbound {
    /// The network's id of the account.
    pub account: String,
    /// The kind of its object, as the network names it.
    pub field: String,
    /// The network's id of the thing.
    pub id: String,
    /// The change.
    pub verb: String,
    /// The time at which it happened.
    pub at: DateTime<Utc>,
    /// The thing.
    pub item: InboundItem,
}

/// A sentence for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum InboundItem {
    /// A message was sent, by either side.
    Message(RemoteMessage),
    /// A message was taken back.
    Unsent {
        /// The message.
        id: String,
        /// The person on the other side.
        participant: Person,
        /// The account sent it.
        out: bool,
    },
    /// A comment was written, or changed.
    Comment(RemoteComment),
    /// A comment was deleted.
    CommentDeleted {
        /// The comment.
        id: String,
        /// The post that it was on, if that is told.
        post: Option<String>,
    },
    /// A comment was hidden, or shown again.
    CommentHidden {
        /// The comment.
        id: String,
        /// It is hidden.
        hidden: bool,
    },
}

/// The messages and comments of a network's accounts.
#[async_trait]
pub trait Inbox: Changes {
    /// Returns what it takes.
    fn rules(&self) -> InboxRules;

    /// Returns the number of calls that the app has for all accounts together, if that is known.
    fn quota(&self) -> Option<RateLimit> {
        None
    }

    /// Has the network send what happens to the account.
    ///
    /// # Errors
    /// The network's; a missing permission is [`crate::Kind::Misconfigured`].
    async fn subscribe(&self, session: &Session) -> Result<()>;

    /// Reads a page of conversations, the latest first, each with its latest messages.
    ///
    /// # Errors
    /// The network's.
    async fn conversations(
        &self,
        session: &Session,
        next: Option<String>,
    ) -> Result<Page<Vec<RemoteMessage>>> {
        let _ = (session, next);
        Ok(Page { items: Vec::new(), next: None })
    }

    /// Reads the account's latest posts, the latest first.
    ///
    /// # Errors
    /// The network's.
    async fn recent_posts(&self, session: &Session) -> Result<Vec<RemotePost>>;

    /// Reads a page of the comments below a post, replies among them.
    ///
    /// # Errors
    /// The network's.
    async fn comments(
        &self,
        session: &Session,
        post: &str,
        next: Option<String>,
    ) -> Result<Page<RemoteComment>>;

    /// Reads what became of a comment that a list does not show: whether it is hidden; `None`: it is gone. Asked only where
    /// hidden comments are missing in lists.
    ///
    /// # Errors
    /// The network's.
    async fn unlisted(&self, session: &Session, comment: &str) -> Result<Option<bool>> {
        let _ = (session, comment);
        Ok(None)
    }

    /// Reads the things in the body of a webhook; what is not known is left out.
    fn read_webhook(&self, body: &Value) -> Vec<Inbound>;
}
