//! Verifies a token: finds its owner.

use serde_json::Map;

use super::client;
use crate::{Error, Identity, Result, Session, oauth};

/// Reads the owner of the token. Threads does not return the expiry of a token again; it was stored with the token.
pub(super) async fn verify(session: &Session) -> Result<Identity> {
    let user = client::me(session).await.map_err(Error::while_connecting)?;
    Ok(Identity {
        remote_id: user.id,
        username: user.username,
        display_name: user.name,
        meta: Map::new(),
        secrets: session.secrets.clone(),
        expires_at: oauth::access_token_expiry(&session.secrets),
    }
    .with_picture_url(user.threads_profile_picture_url))
}
