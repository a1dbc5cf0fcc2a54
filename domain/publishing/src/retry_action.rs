//! The action after an error of a network, for any kind of call.

use fanfare_platforms::{ErrorKind, Phase};

/// The action after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAction {
    /// Try again later; costs one of the retries.
    Retry,
    /// Try again later; costs nothing.
    Wait,
    /// Refresh the tokens and try again.
    Refresh,
    /// The outcome of the call is unknown: reconcile it.
    Lost,
    /// The network has the same content already: what that means depends on earlier calls.
    Duplicate,
    /// The account must be connected again.
    Reconnect,
    /// It fails for good.
    Stop,
}

/// Returns the action for a kind of error in a phase.
#[must_use]
pub const fn decide(kind: ErrorKind, phase: Phase) -> RetryAction {
    match (kind, phase) {
        (ErrorKind::Ambiguous | ErrorKind::Server, Phase::Commit) => RetryAction::Lost,
        (
            ErrorKind::Ambiguous
            | ErrorKind::Server
            | ErrorKind::Transient
            | ErrorKind::Unreachable,
            _,
        ) => RetryAction::Retry,
        (ErrorKind::RateLimited | ErrorKind::QuotaExhausted, _) => RetryAction::Wait,
        (ErrorKind::TokenExpired, _) => RetryAction::Refresh,
        (ErrorKind::Reconnect | ErrorKind::InvalidCredentials, _) => RetryAction::Reconnect,
        (ErrorKind::Duplicate, _) => RetryAction::Duplicate,
        (
            ErrorKind::Rejected
            | ErrorKind::MediaRejected
            | ErrorKind::Misconfigured
            | ErrorKind::PermissionMissing
            | ErrorKind::Restricted
            | ErrorKind::TargetGone
            | ErrorKind::Defect,
            _,
        ) => RetryAction::Stop,
    }
}
