//! Changes on a network other than posts, each of which must happen once: replies, hides, deletions, changes of a business
//! profile.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Class, Error, Found, Progress, Result, Session, Step};

/// One change, in words that all networks share. Ids are the network's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    /// Sends a direct message.
    Message {
        /// The person who gets it.
        to: String,
        /// Its text, or else a file.
        text: Option<String>,
        /// Its file, or else a text.
        file: Option<MessageFile>,
        /// A person wrote it, and the usual time for answers is over.
        human_agent: bool,
        /// Our own id of it, which the network gives back where it can.
        mark: String,
    },
    /// Answers a comment in public.
    Reply {
        /// The comment.
        comment: String,
        /// The text.
        text: String,
    },
    /// Answers a comment with a direct message.
    PrivateReply {
        /// The comment.
        comment: String,
        /// The text.
        text: String,
    },
    /// Hides a comment, or shows it again.
    Hide {
        /// The comment.
        comment: String,
        /// True to hide it.
        hidden: bool,
    },
    /// Deletes a comment.
    Delete {
        /// The comment.
        comment: String,
    },
    /// Answers a review, in place of an earlier answer.
    ReviewReply {
        /// The review.
        review: String,
        /// The text.
        text: String,
    },
    /// Deletes the answer to a review.
    DeleteReviewReply {
        /// The review.
        review: String,
    },
    /// Adds a photo or video to a business profile.
    AddMedia {
        /// Its public address.
        source_url: String,
        /// The category on the profile.
        category: String,
        /// True for a video.
        video: bool,
    },
    /// Deletes a photo or video of a business profile.
    DeleteMedia {
        /// Its name.
        media: String,
    },
}

/// A file of a direct message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageFile {
    /// Its public address.
    pub url: String,
    /// Its media type.
    pub mime: String,
}

impl Change {
    /// Returns the name of its kind.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Message { .. } => "message",
            Self::Reply { .. } => "reply",
            Self::PrivateReply { .. } => "private_reply",
            Self::Hide { .. } => "hide",
            Self::Delete { .. } => "delete",
            Self::ReviewReply { .. } => "review_reply",
            Self::DeleteReviewReply { .. } => "delete_review_reply",
            Self::AddMedia { .. } => "add_media",
            Self::DeleteMedia { .. } => "delete_media",
        }
    }
}

/// The record of a call whose answer was lost.
#[derive(Debug, Clone)]
pub struct Lost {
    /// The time at which it was made.
    pub sent_at: DateTime<Utc>,
    /// Ids of things like it that came of other calls.
    pub known: Vec<String>,
}

/// The reason a network refused a change, where callers can do something about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The time for answers is over.
    WindowClosed,
    /// The account did not grant a permission.
    PermissionMissing,
    /// The object is gone, or does not take the change any more.
    NotAllowed,
    /// It has been done already.
    Done,
}

/// The changes that a network takes. Each call makes at most one remote change.
#[async_trait]
pub trait Changes: Send + Sync {
    /// Returns what can be learned about a call whose answer was lost.
    fn class(&self, change: &Change) -> Class;

    /// Returns the step that the next call of [`Changes::change`] with this state will do. Pure.
    fn step(&self, change: &Change, state: Option<&Value>) -> Step {
        let _ = state;
        Step::commit(change.kind())
    }

    /// Takes the change one step further; makes at most one remote change.
    ///
    /// # Errors
    /// [`Error`] with a kind that says whether to retry, to wait, to reconnect or to stop.
    async fn change(
        &self,
        session: &Session,
        change: &Change,
        state: Option<Value>,
    ) -> Result<Progress>;

    /// Looks for the result of a call whose answer was lost. Reads only.
    ///
    /// # Errors
    /// Any error means "not known yet".
    async fn find(
        &self,
        session: &Session,
        change: &Change,
        state: Option<Value>,
        lost: &Lost,
    ) -> Result<Found> {
        let _ = (session, change, state, lost);
        Ok(Found::Unknown)
    }

    /// Returns what a refusal means, where that is known.
    fn refused(&self, change: &Change, error: &Error) -> Option<Refused> {
        let _ = (change, error);
        None
    }
}
