//! Errors of calls to a network.

use std::time::Duration;

use fanfare_outbound as outbound;
use serde::{Deserialize, Serialize};

/// Result of a connector's call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an error. One `match` in the workers maps each kind to an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request never reached the network, or a repeatable one failed for the moment: try again.
    Transient,
    /// The network answered 5xx: it may or may not have acted.
    Server,
    /// The request may have been carried out, but no readable response came.
    Ambiguous,
    /// The network asks to wait (`retry_after`, else the usual backoff).
    RateLimited,
    /// A daily or monthly allowance is used up (`retry_after`, if known).
    QuotaExhausted,
    /// The access token has expired: refresh it and try again; where nothing can be refreshed, reconnect.
    TokenExpired,
    /// The network no longer accepts the account's credentials.
    Reconnect,
    /// The network will never accept the content.
    Rejected,
    /// The network refuses the same content again within some time.
    Duplicate,
    /// The network will never accept a media file.
    MediaRejected,
    /// The service, or its app at the network, is set up wrongly: its operator has to act.
    Misconfigured,
    /// The account lacks a right, a permission or a plan that its owner has to give it.
    PermissionMissing,
    /// The network restricts the account until its owner does on the network what it asks for.
    Restricted,
    /// What the post goes to, or what its settings name, is not there.
    TargetGone,
    /// A defect of the service: nothing can be set or changed from outside.
    Defect,
    /// While connecting: the network refuses the credentials.
    InvalidCredentials,
    /// While connecting: the network cannot be reached.
    Unreachable,
}

/// What a refusal of a call that changes something says of the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Effect {
    /// What its kind says.
    #[default]
    ByKind,
    /// The change was not made: the refusal names what stopped it, and the network checks that first.
    None,
    /// The change may have been made.
    Open,
}

/// An error of a connector, with a message for the account's owner. Never contains a secret.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The kind.
    pub kind: ErrorKind,
    /// The reason, as one sentence.
    pub message: String,
    /// The remedy, as one sentence, if the kind alone does not imply it.
    pub remedy: Option<String>,
    /// The time to wait before trying again, as the network said.
    pub retry_after: Option<Duration>,
    /// True if the exhausted limit belongs to the app, which all accounts that post through it share.
    pub is_app_wide: bool,
    /// True if the exhausted limit concerns this post alone: other posts of the account go out meanwhile.
    pub is_of_post_alone: bool,
    /// The network's response, if there was one.
    pub reply: Option<PlatformReply>,
    /// For a duplicate: the id that the network gives for the earlier object. It may be another's, or not exist.
    pub earlier: Option<String>,
    /// The state to go on with, if it turns out that a call without a readable response was not carried out, or if the
    /// step is tried again.
    pub next_state: Option<serde_json::Value>,
    /// What it says of the change that the call was to make.
    pub effect: Effect,
}

/// A network's own description of an error, redacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlatformReply {
    /// HTTP status.
    pub status: u16,
    /// The network's code.
    pub code: Option<String>,
    /// The network's message, shortened to 500 characters.
    pub message: Option<String>,
}

impl ErrorKind {
    /// Returns true if neither waiting nor another post helps: the operator or the account's owner has to act first.
    #[must_use]
    pub const fn is_refusal_of_the_account(self) -> bool {
        matches!(
            self,
            Self::Misconfigured
                | Self::PermissionMissing
                | Self::Restricted
                | Self::TargetGone
                | Self::Defect
        )
    }
}

impl Error {
    /// Creates an error of any kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            kind,
            message,
            remedy: None,
            retry_after: None,
            is_app_wide: false,
            is_of_post_alone: false,
            reply: None,
            earlier: None,
            next_state: None,
            effect: Effect::ByKind,
        }
    }

    /// Creates a [`ErrorKind::Transient`] error.
    pub fn transient(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Transient, message)
    }

    /// Creates a [`ErrorKind::Reconnect`] error.
    pub fn reconnect(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Reconnect, message)
    }

    /// Creates a [`ErrorKind::Rejected`] error.
    pub fn rejected(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Rejected, message)
    }

    /// Creates a [`ErrorKind::Duplicate`] error of the network with this name.
    pub fn duplicate(label: &str) -> Self {
        let message = format!("{label} refuses the same text again within some time.");
        Self::new(ErrorKind::Duplicate, message).with_remedy(
            "Change the text, or post it later. A deleted post still counts for a day or two.",
        )
    }

    /// Creates a [`ErrorKind::MediaRejected`] error.
    pub fn media_rejected(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::MediaRejected, message)
    }

    /// Creates a [`ErrorKind::Misconfigured`] error.
    pub fn misconfigured(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Misconfigured, message)
    }

    /// Creates a [`ErrorKind::PermissionMissing`] error.
    pub fn permission_missing(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::PermissionMissing, message)
    }

    /// Creates a [`ErrorKind::Restricted`] error.
    pub fn restricted(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Restricted, message)
    }

    /// Creates a [`ErrorKind::TargetGone`] error.
    pub fn target_gone(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::TargetGone, message)
    }

    /// Creates a [`ErrorKind::Defect`] error.
    pub fn defect(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Defect, message)
    }

    /// Creates a [`ErrorKind::InvalidCredentials`] error.
    pub fn invalid_credentials(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidCredentials, message)
    }

    /// Notes that the change was not made.
    #[must_use]
    pub const fn nothing_done(mut self) -> Self {
        self.effect = Effect::None;
        self
    }

    /// Notes that the change may have been made.
    #[must_use]
    pub const fn left_open(mut self) -> Self {
        self.effect = Effect::Open;
        self
    }

    /// Returns true for a refusal after which the change may have been made: networks have carried out calls that they
    /// refused with permissions, rights or words of no meaning. A refusal that names text, media, a limit or the
    /// credentials came before.
    #[must_use]
    pub const fn leaves_open(&self) -> bool {
        let by_kind = matches!(
            self.kind,
            ErrorKind::Transient
                | ErrorKind::Misconfigured
                | ErrorKind::PermissionMissing
                | ErrorKind::Restricted
                | ErrorKind::TargetGone
                | ErrorKind::Defect
        );
        match self.effect {
            Effect::None => false,
            Effect::Open => self.reply.is_some(),
            Effect::ByKind => by_kind && self.reply.is_some(),
        }
    }

    /// Returns true if the network does not find what the call names: 404, 410, or the code 803 or 33 of Meta
    /// (<https://developers.facebook.com/docs/graph-api/guides/error-handling>).
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        let Some(reply) = &self.reply else { return false };
        let code = reply.code.as_deref().unwrap_or_default();
        matches!(reply.status, 404 | 410) || matches!(code, "803" | "100/33" | "33")
    }

    /// Adds a remedy.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Adds the network's response.
    #[must_use]
    pub fn with_reply(mut self, status: u16, code: Option<&str>, message: Option<&str>) -> Self {
        let short = |text: &str| text.chars().take(500).collect::<String>();
        self.reply =
            Some(PlatformReply { status, code: code.map(short), message: message.map(short) });
        self
    }

    /// Converts the kind for an account that is being connected: a refusal is about the credentials, and no response is
    /// about the network.
    #[must_use]
    pub fn while_connecting(mut self) -> Self {
        self.kind = match self.kind {
            ErrorKind::Transient
            | ErrorKind::Server
            | ErrorKind::Ambiguous
            | ErrorKind::RateLimited
            | ErrorKind::QuotaExhausted
            | ErrorKind::Unreachable => ErrorKind::Unreachable,
            ErrorKind::TokenExpired
            | ErrorKind::Reconnect
            | ErrorKind::Rejected
            | ErrorKind::Duplicate
            | ErrorKind::MediaRejected
            | ErrorKind::Misconfigured
            | ErrorKind::PermissionMissing
            | ErrorKind::Restricted
            | ErrorKind::TargetGone
            | ErrorKind::Defect
            | ErrorKind::InvalidCredentials => ErrorKind::InvalidCredentials,
        };
        self
    }

    /// Adds the state to go on with if the call was not carried out.
    ///
    /// # Errors
    /// [`ErrorKind::Defect`] for a state that cannot be serialized as JSON.
    pub fn with_next_state<T: Serialize>(mut self, state: &T) -> Result<Self> {
        let state = serde_json::to_value(state)
            .map_err(|error| Self::defect(format!("The progress cannot be stored: {error}.")))?;
        self.next_state = Some(state);
        Ok(self)
    }

    /// Marks the limit as one of the app, which all accounts that post through it share.
    #[must_use]
    pub const fn app_wide(mut self) -> Self {
        self.is_app_wide = true;
        self
    }

    /// Marks the limit as one that concerns this post alone, such as the number of videos in a day.
    #[must_use]
    pub const fn of_post_alone(mut self) -> Self {
        self.is_of_post_alone = true;
        self
    }

    /// Adds the time to wait that the network named.
    #[must_use]
    pub fn with_retry_after(mut self, after: Option<Duration>) -> Self {
        self.retry_after = after;
        self
    }
}

/// A request that certainly did not reach the network is transient; any other lost response is ambiguous. The owner has
/// to correct a refused address.
impl From<outbound::Error> for Error {
    fn from(error: outbound::Error) -> Self {
        let kind = match error.kind {
            outbound::ErrorKind::Blocked | outbound::ErrorKind::Invalid => ErrorKind::TargetGone,
            outbound::ErrorKind::NotSent => ErrorKind::Transient,
            outbound::ErrorKind::Lost
            | outbound::ErrorKind::TooLarge
            | outbound::ErrorKind::InvalidJson => ErrorKind::Ambiguous,
        };
        Self::new(kind, error.to_string())
    }
}
