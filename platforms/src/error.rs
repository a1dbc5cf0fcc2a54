//! The reason a call to a network failed.

use std::time::Duration;

use fanfare_outbound as outbound;
use serde::{Deserialize, Serialize};

/// Result of a connector's call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an error. One `match` in the workers maps each kind to an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The request never reached the network, or a repeatable one failed for the moment: try again.
    Transient,
    /// The network answered 5xx: it may or may not have acted.
    Server,
    /// The request may have been carried out, and no answer that can be read came.
    Ambiguous,
    /// The network asks to wait (`retry_after`, else the usual waits).
    RateLimited,
    /// A daily or monthly allowance is used up (`retry_after`, if known).
    QuotaExhausted,
    /// The access token has expired: refresh it and try again; where nothing can be refreshed, reconnect.
    TokenExpired,
    /// The network no longer accepts the account's credentials.
    Reconnect,
    /// The content will never pass.
    Rejected,
    /// A media file will never pass.
    MediaRejected,
    /// The app, a scope or a plan is missing something the account's owner must arrange.
    Misconfigured,
    /// While connecting: the network refuses the credentials.
    InvalidCredentials,
    /// While connecting: the network cannot be asked.
    Unreachable,
}

/// An error of a connector, in words for the account's owner. Never holds a secret.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The kind.
    pub kind: Kind,
    /// The reason, as one sentence.
    pub message: String,
    /// The remedy, as one sentence, if the kind alone does not imply it.
    pub remedy: Option<String>,
    /// The time at which to come back, as the network named it.
    pub retry_after: Option<Duration>,
    /// The exhausted limit belongs to the app, which all accounts that post through it share.
    pub of_app: bool,
    /// The network's answer, if there was one.
    pub reply: Option<PlatformReply>,
}

/// A network's own words for an error, redacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlatformReply {
    /// HTTP status.
    pub status: u16,
    /// The network's code.
    pub code: Option<String>,
    /// The network's message, shortened to 500 characters.
    pub message: Option<String>,
}

impl Error {
    /// An error of any kind.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { kind, message, remedy: None, retry_after: None, of_app: false, reply: None }
    }

    /// [`Kind::Transient`].
    pub fn transient(message: impl Into<String>) -> Self {
        Self::new(Kind::Transient, message)
    }

    /// [`Kind::Reconnect`].
    pub fn reconnect(message: impl Into<String>) -> Self {
        Self::new(Kind::Reconnect, message)
    }

    /// [`Kind::Rejected`].
    pub fn rejected(message: impl Into<String>) -> Self {
        Self::new(Kind::Rejected, message)
    }

    /// [`Kind::MediaRejected`].
    pub fn media_rejected(message: impl Into<String>) -> Self {
        Self::new(Kind::MediaRejected, message)
    }

    /// [`Kind::Misconfigured`].
    pub fn misconfigured(message: impl Into<String>) -> Self {
        Self::new(Kind::Misconfigured, message)
    }

    /// [`Kind::InvalidCredentials`].
    pub fn invalid_credentials(message: impl Into<String>) -> Self {
        Self::new(Kind::InvalidCredentials, message)
    }

    /// The same with advice.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// The same with the network's own answer.
    #[must_use]
    pub fn with_reply(mut self, status: u16, code: Option<&str>, message: Option<&str>) -> Self {
        let short = |text: &str| text.chars().take(500).collect::<String>();
        self.reply =
            Some(PlatformReply { status, code: code.map(short), message: message.map(short) });
        self
    }

    /// The same while an account is being connected: an answer that refuses is about the credentials, and none at all
    /// is about the network.
    #[must_use]
    pub fn while_connecting(mut self) -> Self {
        self.kind = match self.kind {
            Kind::Transient
            | Kind::Server
            | Kind::Ambiguous
            | Kind::RateLimited
            | Kind::QuotaExhausted
            | Kind::Unreachable => Kind::Unreachable,
            Kind::TokenExpired
            | Kind::Reconnect
            | Kind::Rejected
            | Kind::MediaRejected
            | Kind::Misconfigured
            | Kind::InvalidCredentials => Kind::InvalidCredentials,
        };
        self
    }

    /// The same for all accounts that post through the app.
    #[must_use]
    pub const fn of_app(mut self) -> Self {
        self.of_app = true;
        self
    }

    /// The same with the time the network named.
    #[must_use]
    pub fn with_retry_after(mut self, after: Option<Duration>) -> Self {
        self.retry_after = after;
        self
    }
}

/// A request that certainly did not reach the network is transient; any other lost answer is ambiguous. A refused
/// address is the owner's to mend.
impl From<outbound::Error> for Error {
    fn from(error: outbound::Error) -> Self {
        let kind = match error.kind {
            outbound::ErrorKind::Blocked | outbound::ErrorKind::Invalid => Kind::Misconfigured,
            outbound::ErrorKind::NotSent => Kind::Transient,
            outbound::ErrorKind::Lost
            | outbound::ErrorKind::TooLarge
            | outbound::ErrorKind::Nonsense => Kind::Ambiguous,
        };
        Self::new(kind, error.to_string())
    }
}
