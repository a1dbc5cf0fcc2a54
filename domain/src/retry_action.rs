//! What to do after an error of a network, for any kind of call.

use fanfare_platforms::{Kind, Phase};

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
    /// The account must be connected again.
    Reconnect,
    /// It fails for good.
    Stop,
}

/// Returns the action for a kind of error in a phase.
#[must_use]
pub const fn decide(kind: Kind, phase: Phase) -> RetryAction {
    match (kind, phase) {
        (Kind::Ambiguous | Kind::Server, Phase::Commit) => RetryAction::Lost,
        (Kind::Ambiguous | Kind::Server | Kind::Transient | Kind::Unreachable, _) => {
            RetryAction::Retry
        }
        (Kind::RateLimited | Kind::QuotaExhausted, _) => RetryAction::Wait,
        (Kind::TokenExpired, _) => RetryAction::Refresh,
        (Kind::Reconnect | Kind::InvalidCredentials, _) => RetryAction::Reconnect,
        (Kind::Rejected | Kind::MediaRejected | Kind::Misconfigured, _) => RetryAction::Stop,
    }
}
