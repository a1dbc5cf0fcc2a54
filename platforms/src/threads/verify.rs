//! Who a token belongs to, and fresh ones.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Map;

use super::client;
use crate::{Error, Identity, Kind, Refreshed, Result, Session};

/// Asks Threads who the token belongs to.
pub(super) async fn verify(session: &Session) -> Result<Identity> {
    let user = client::me(session).await.map_err(Error::while_connecting)?;
    Ok(Identity {
        remote_id: user.id,
        username: user.username,
        display_name: user.name,
        meta: Map::new(),
        secrets: session.secrets.clone(),
        expires_at: known_end(session),
    })
}

/// Threads does not tell the end of a token again; whoever got the token wrote it down beside it.
fn known_end(session: &Session) -> Option<DateTime<Utc>> {
    let end = session.secrets.expose("expires_at");
    DateTime::parse_from_rfc3339(end).ok().map(|end| end.to_utc())
}

/// Threads gives a new token for one that is at least a day old and still good, so it must be done ahead of need.
pub(super) async fn refresh(session: &Session) -> Result<Refreshed> {
    let token = client::refresh(session).await.map_err(refused)?;
    if token.access_token.is_empty() {
        return Err(Error::transient("Threads answered without a token."));
    }
    let life = token.expires_in.and_then(TimeDelta::try_seconds);
    let expires_at = life.and_then(|life| session.now.checked_add_signed(life));
    let end = expires_at.map(|end| end.to_rfc3339()).unwrap_or_default();
    let secrets = session.secrets.clone();
    let secrets = secrets.with("access_token", token.access_token).with("expires_at", end);
    Ok(Refreshed { secrets, expires_at })
}

/// Only a token that is dead for certain means that the account has to be connected again.
fn refused(mut error: Error) -> Error {
    error.kind = match error.kind {
        Kind::TokenExpired | Kind::Reconnect => Kind::Reconnect,
        Kind::RateLimited | Kind::QuotaExhausted => Kind::RateLimited,
        Kind::Transient
        | Kind::Server
        | Kind::Ambiguous
        | Kind::Rejected
        | Kind::MediaRejected
        | Kind::Misconfigured
        | Kind::InvalidCredentials
        | Kind::Unreachable => Kind::Transient,
    };
    error
}
