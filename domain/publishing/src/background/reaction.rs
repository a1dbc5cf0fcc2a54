//! The reaction to a network's error, the same for numbers, inboxes and business profiles.

use std::time::Duration;

use fanfare_core::{Domain, error::Result};
use fanfare_entities::{Millis, account};
use fanfare_platforms::{Error, ErrorKind};

use crate::accounts::{self, RefreshOutcome};

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;

/// The delay while another process refreshes the tokens, in ms.
const REFRESH_RECHECK: Millis = 5_000;

/// The longest time that a network may take to say whether it accepts an account.
const VERIFY_TIMEOUT: Duration = Duration::from_secs(30);

/// The default delay if the network does not say how long, and the longest one.
const DEFAULT_WAIT: Duration = Duration::from_secs(5 * 60);
const MAX_WAIT: Duration = Duration::from_secs(24 * 3_600);

/// The next action of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
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
pub async fn react(cx: &Domain, account: &account::Model, error: &Error) -> Result<Reaction> {
    match error.kind {
        ErrorKind::TokenExpired => fresh_tokens(cx, account).await,
        // What is not found may be something else than the account.
        ErrorKind::Reconnect | ErrorKind::InvalidCredentials
            if error.is_not_found() && !is_refused(cx, account).await? =>
        {
            Ok(Reaction::Retry)
        }
        ErrorKind::Reconnect | ErrorKind::InvalidCredentials => {
            reconnect_required(cx, account).await
        }
        ErrorKind::RateLimited | ErrorKind::QuotaExhausted => {
            let wait = error.retry_after.unwrap_or(DEFAULT_WAIT).min(MAX_WAIT);
            Ok(Reaction::After(Millis::try_from(wait.as_millis()).unwrap_or(HOUR)))
        }
        kind if kind.is_refusal_of_the_account() => Ok(Reaction::Forbidden),
        _ => Ok(Reaction::Retry),
    }
}

/// Returns true if the network says, asked about the account itself, that it does not accept it.
async fn is_refused(cx: &Domain, account: &account::Model) -> Result<bool> {
    let platform = crate::platforms::from_row(&account.platform)?;
    let Some(session) = accounts::session(cx, account).await? else { return Ok(true) };
    let asked = fanfare_platforms::find(platform).verify(&session);
    Ok(match tokio::time::timeout(VERIFY_TIMEOUT, asked).await {
        Ok(Err(error)) => error.while_connecting().kind == ErrorKind::InvalidCredentials,
        Ok(Ok(_)) | Err(_) => false,
    })
}

/// Refreshes an account's tokens, and returns when to continue.
///
/// # Errors
/// The database's.
pub async fn fresh_tokens(cx: &Domain, account: &account::Model) -> Result<Reaction> {
    let platform = crate::platforms::from_row(&account.platform)?;
    match accounts::refresh(cx, platform, account.id, account.secret_id).await? {
        RefreshOutcome::Fresh => Ok(Reaction::After(0)),
        RefreshOutcome::Elsewhere => Ok(Reaction::After(REFRESH_RECHECK)),
        RefreshOutcome::Impossible => reconnect_required(cx, account).await,
        RefreshOutcome::Failed(error) if error.kind == ErrorKind::Reconnect => {
            reconnect_required(cx, account).await
        }
        RefreshOutcome::Failed(_) | RefreshOutcome::Ending(_) => Ok(Reaction::After(MINUTE)),
    }
}

async fn reconnect_required(cx: &Domain, account: &account::Model) -> Result<Reaction> {
    let is_marked = accounts::mark_needs_reconnect(cx, account.id, account.secret_id).await?;
    Ok(if is_marked { Reaction::Stop } else { Reaction::After(0) })
}

/// Returns the delay before an attempt, in ms: twice as long each time, up to an hour.
#[must_use]
pub fn backoff(attempts: i32) -> Millis {
    (MINUTE << attempts.clamp(0, 6).unsigned_abs()).min(HOUR)
}
