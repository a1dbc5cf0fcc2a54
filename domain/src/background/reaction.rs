//! The reaction to a network's error, the same for numbers, inboxes and business profiles.

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

/// The delay while another process refreshes the tokens, in ms.
const ELSEWHERE: Millis = 5_000;

/// The default delay if the network does not say how long, and the longest one.
const UNTOLD: Duration = Duration::from_secs(5 * 60);
const LONGEST: Duration = Duration::from_secs(24 * 3_600);

/// What a reading does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// It stops: the account must be connected again, which was recorded.
    Stop,
    /// It continues after this time in ms, whatever the account.
    After(Millis),
    /// It tries again, after a longer delay each time.
    Retry,
    /// The account did not grant a permission.
    Forbidden,
}

/// Returns the reaction to a network's error. Expired tokens are refreshed, and an account that must be connected again
/// is marked.
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

/// Refreshes an account's tokens, and returns when to continue.
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

/// Returns the delay before an attempt, in ms: twice as long each time, up to an hour.
#[must_use]
pub(crate) fn backoff(attempts: i32) -> Millis {
    (MINUTE << attempts.clamp(0, 6).unsigned_abs()).min(HOUR)
}
