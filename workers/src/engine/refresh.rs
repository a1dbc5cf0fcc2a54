//! Fresh tokens for a call that the network refuses without them.

use fanfare_core::{Code, Domain, Result};
use fanfare_entities::{Millis, account};
use fanfare_platforms::{self as platforms, ErrorKind, Session};
use fanfare_publishing::accounts::{self, RefreshOutcome};

use super::RemoteWork;

/// Returns the error of a token that will expire before a step could end, and can be refreshed: the network would refuse
/// it too, but only after a step was tried in vain.
pub(super) fn expiring<W: RemoteWork>(
    work: &W,
    account: &account::Model,
) -> Option<platforms::Error> {
    let deadline = (work.cx().connector)(work.platform()).spec().commit_deadline;
    let soon = work.cx().now() + i64::try_from(deadline.as_millis()).unwrap_or(i64::MAX / 4);
    let is_expiring =
        account.refresh_at.is_some() && account.token_expires_at.is_some_and(|end| end <= soon);
    let message = "The access token is about to end.";
    is_expiring.then(|| platforms::Error::new(ErrorKind::TokenExpired, message))
}

/// The time before the end of a token from which on it is renewed ahead of a step: if that fails, the token still serves.
const EARLY: Millis = 30 * 60_000;

/// The time for which nothing is renewed ahead after an answer was lost, in ms.
const PAUSE: Millis = 60_000;

/// Renews tokens that end soon. Returns the account and a session with fresh ones; `None` if there is nothing to renew or
/// it failed, so that the old token is used.
pub(super) async fn renew_early<W: RemoteWork>(
    work: &W,
    account: &account::Model,
) -> Result<Option<(account::Model, Session)>> {
    let (cx, now) = (work.cx().domain.clone(), work.cx().now());
    let is_soon = account.token_expires_at.is_some_and(|end| end <= now + EARLY);
    let was_lost = account.refreshing_until.is_some_and(|until| now < until + PAUSE);
    if account.refresh_at.is_none() || accounts::is_ending(account) || !is_soon || was_lost {
        return Ok(None);
    }
    match accounts::refresh(&cx, work.platform(), account.id, account.secret_id).await? {
        RefreshOutcome::Fresh => {}
        RefreshOutcome::Elsewhere
        | RefreshOutcome::Impossible
        | RefreshOutcome::Failed(_)
        | RefreshOutcome::Ending(_) => return Ok(None),
    }
    let Some(row) = accounts::row(&cx, account.id).await? else { return Ok(None) };
    Ok(accounts::session(&cx, &row).await?.map(|session| (row, session)))
}

/// Returns the account and a session with fresh tokens, and true; or with the old token, which serves still, and false; or
/// `None` if the row was given back or has ended.
pub(super) async fn refresh<W: RemoteWork>(
    work: &mut W,
    account: &account::Model,
    error: &platforms::Error,
) -> Result<Option<(account::Model, Session, bool)>> {
    let cx = work.cx().domain.clone();
    // The network has not refused the token: it is about to end.
    let serves = |cx: &Domain| {
        error.reply.is_none() && account.token_expires_at.is_some_and(|end| end > cx.clock.now())
    };
    let usable = |found: Option<(account::Model, Session)>, is_fresh: bool| {
        found.map(|(row, session)| (row, session, is_fresh))
    };
    match accounts::refresh(&cx, work.platform(), account.id, account.secret_id).await? {
        RefreshOutcome::Fresh => return Ok(usable(fresh_session(work, account).await?, true)),
        RefreshOutcome::Ending(_) if serves(&cx) => {
            return Ok(usable(fresh_session(work, account).await?, false));
        }
        RefreshOutcome::Failed(failure) if serves(&cx) && may_pass(&failure) => {
            return Ok(usable(fresh_session(work, account).await?, false));
        }
        RefreshOutcome::Elsewhere => work.wait_for_tokens().await?,
        RefreshOutcome::Impossible => stop_tokens(work, account, error).await?,
        RefreshOutcome::Failed(error) => match error.kind {
            ErrorKind::Reconnect | ErrorKind::InvalidCredentials | ErrorKind::TokenExpired => {
                stop_tokens(work, account, &error).await?;
            }
            ErrorKind::RateLimited | ErrorKind::QuotaExhausted => work.wait(&error).await?,
            _ => work.retry(&error).await?,
        },
        RefreshOutcome::Ending(error) => work.retry(&error).await?,
    }
    Ok(None)
}

/// Returns true if tokens that could not be renewed may be renewed later.
fn may_pass(error: &platforms::Error) -> bool {
    !matches!(
        error.kind,
        ErrorKind::Reconnect | ErrorKind::InvalidCredentials | ErrorKind::TokenExpired
    )
}

async fn fresh_session<W: RemoteWork>(
    work: &mut W,
    account: &account::Model,
) -> Result<Option<(account::Model, Session)>> {
    let cx = work.cx().domain.clone();
    let session = match accounts::row(&cx, account.id).await? {
        Some(row) => accounts::session(&cx, &row).await.map(|session| Some(row).zip(session)),
        None => Ok(None),
    };
    match session {
        Ok(Some(fresh)) => return Ok(Some(fresh)),
        Ok(None) => work.stop_disconnected().await?,
        Err(error) if error.code() == Code::Unavailable => return Err(error),
        // No later attempt could open them either.
        Err(error) => {
            tracing::error!(account.id = %account.id, %error, "the credentials of an account cannot be opened");
            work.stop_unreadable().await?;
        }
    }
    Ok(None)
}

/// Marks the account as to be reconnected, and ends the row: its tokens cannot be refreshed. An account that was connected
/// again meanwhile is used with its new tokens.
pub(super) async fn stop_tokens<W: RemoteWork>(
    work: &mut W,
    account: &account::Model,
    error: &platforms::Error,
) -> Result<()> {
    let cx = work.cx().domain.clone();
    if !accounts::mark_needs_reconnect(&cx, account.id, account.secret_id).await? {
        return work.wait_for_tokens().await;
    }
    work.stop_tokens(error).await
}
