//! Remote changes other than publishing posts, each of which must happen exactly once: replies, hides, deletions,
//! changes of a business profile.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Error, Progress, RateLimit, ReconcileOutcome, RecoveryClass, Result, Session, Step};

/// One change, in terms that all networks share. Ids are the network's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RemoteChange {
    /// Sends a direct message.
    Message {
        /// The recipient.
        to: String,
        /// Its text, or else a file.
        text: Option<String>,
        /// Its file, or else a text.
        file: Option<MessageFile>,
        /// A person wrote it, after the usual reply window (the network's "human agent" tag).
        human_agent: bool,
        /// Our own id of the message, which the network returns with it if it can.
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
    /// Hides or unhides a comment.
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
    /// Answers a review, or replaces an earlier answer.
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

impl RemoteChange {
    /// Returns true if it makes a new object on the network, with an id of its own.
    #[must_use]
    pub const fn makes_an_object(&self) -> bool {
        matches!(
            self,
            Self::Message { .. }
                | Self::Reply { .. }
                | Self::PrivateReply { .. }
                | Self::AddMedia { .. }
        )
    }

    /// Returns its kind as text.
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

/// Why a network refused a change, for reasons that callers can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalReason {
    /// The reply window is closed.
    WindowClosed,
    /// The account did not grant a permission.
    PermissionMissing,
    /// The object no longer exists or no longer allows the change.
    NotAllowed,
    /// The change was made already.
    Done,
}

/// The remote changes that a network supports. Each call makes at most one.
#[async_trait]
pub trait RemoteChanges: Send + Sync {
    /// Returns how to find out what became of a call whose response was lost.
    fn class(&self, change: &RemoteChange) -> RecoveryClass;

    /// Returns the limits that a change counts against. Those that posts count against too are the same entries as in the
    /// descriptor, so that both share a window.
    fn limits(&self, change: &RemoteChange) -> &'static [RateLimit];

    /// Returns the step that the next call of [`RemoteChanges::apply_change`] with this state will take. Pure.
    fn step(&self, change: &RemoteChange, state: Option<&Value>) -> Step {
        let _ = state;
        Step::commit(change.kind())
    }

    /// Takes the change one step further; makes at most one remote change.
    ///
    /// # Errors
    /// [`Error`] with a kind that says whether to retry, to wait, to reconnect or to stop.
    async fn apply_change(
        &self,
        session: &Session,
        change: &RemoteChange,
        state: Option<Value>,
    ) -> Result<Progress>;

    /// Looks for the result of a call whose response was lost after `sent_at`. Reads only. What is listed may be the
    /// result of another call; the caller knows which are.
    ///
    /// # Errors
    /// Any error means "not known yet".
    async fn find_result(
        &self,
        session: &Session,
        change: &RemoteChange,
        state: Option<Value>,
        sent_at: DateTime<Utc>,
    ) -> Result<ReconcileOutcome> {
        let _ = (session, change, state, sent_at);
        Ok(ReconcileOutcome::Unknown)
    }

    /// Returns the reason of a refusal, if it is known.
    fn refusal_reason(&self, change: &RemoteChange, error: &Error) -> Option<RefusalReason> {
        let _ = (change, error);
        None
    }
}
