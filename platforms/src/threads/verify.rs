//! Who a token belongs to, and fresh ones.

use chrono::TimeDelta;
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
        expires_at: None,
    })
}

/// Threads gives a new token for one that is at least a day old and still good, so it must be done ahead of need.
pub(super) async fn refresh(session: &Session) -> Result<Refreshed> {
    let token = client::refresh(session).await.map_err(refused)?;
    if token.access_token.is_empty() {
        return Err(Error::transient("Threads answered without a token."));
    }
    Ok(Refreshed {
        secrets: session.secrets.clone().with("access_token", token.access_token),
        expires_at: token
            .expires_in
            .and_then(TimeDelta::try_seconds)
            .map(|life| session.now + life),
    })
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
