//! The reaction of a reading to its network's error, the same for numbers, inboxes and profiles.

use std::time::Duration;

use fanfare_entities::{Millis, account};
use fanfare_platforms::{Error, Kind};

use crate::{
    Domain,
    accounts::{self, Refreshed},
    error::Result,
};

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;

/// Somebody else refreshes the tokens: look again after this time, in ms.
const ELSEWHERE: Millis = 5_000;

/// The waits for a network that does not say how long: the usual one, and the longest.
const UNTOLD: Duration = Duration::from_secs(5 * 60);
const LONGEST: Duration = Duration::from_secs(24 * 3_600);

/// The next act of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// Nothing: the account must be connected again, which was noted.
    Stop,
    /// It goes on after this time in ms, whatever the account.
    After(Millis),
    /// It tries again, later with each attempt.
    Retry,
    /// The account's access lacks a permission.
    Forbidden,
}

/// Returns what follows from a network's error; tokens that have ended are exchanged, and an account that must be connected
/// again is marked.
///
/// # Errors
/// The database's.
pub(crate) async fn react(
    cx: &Domain,
    account: &account::Model,
    error: &Error,
) -> Result<Reaction> {
    match error.kind {
        Kind::TokenExpired => fresh_tokens(cx, account).await,
        Kind::Reconnect | Kind::InvalidCredentials => lost(cx, account).await,
        Kind::RateLimited | Kind::QuotaExhausted => {
            let wait = error.retry_after.unwrap_or(UNTOLD).min(LONGEST);
            Ok(Reaction::After(Millis::try_from(wait.as_millis()).unwrap_or(HOUR)))
        }
        Kind::Misconfigured => Ok(Reaction::Forbidden),
        _ => Ok(Reaction::Retry),
    }
}

/// Exchanges an account's tokens, and says when to go on with fresh ones.
///
/// # Errors
/// The database's.
pub(crate) async fn fresh_tokens(cx: &Domain, account: &account::Model) -> Result<Reaction> {
    let platform = crate::platforms::of_row(&account.platform)?;
    match accounts::refresh(cx, platform, account.id, account.secret_id).await? {
        Refreshed::Fresh => Ok(Reaction::After(0)),
        Refreshed::Elsewhere => Ok(Reaction::After(ELSEWHERE)),
        Refreshed::Impossible => lost(cx, account).await,
        Refreshed::Failed(error) if error.kind == Kind::Reconnect => lost(cx, account).await,
        Refreshed::Failed(_) => Ok(Reaction::After(MINUTE)),
    }
}

async fn lost(cx: &Domain, account: &account::Model) -> Result<Reaction> {
    accounts::needs_reconnect(cx, account.id).await?;
    Ok(Reaction::Stop)
}

/// Returns how long to wait before an attempt, in ms: each time twice as long, an hour at most.
#[must_use]
pub(crate) fn backoff(attempts: i32) -> Millis {
    (MINUTE << attempts.clamp(0, 6).unsigned_abs()).min(HOUR)
}
