//! Verifies a token: finds its owner.

use serde_json::Map;

use super::client;
use crate::{Error, Identity, Result, Session, oauth};

/// Asks Threads who the token belongs to. It does not tell the end of a token again; whoever got the token wrote it down
/// beside it.
pub(super) async fn verify(session: &Session) -> Result<Identity> {
    let user = client::me(session).await.map_err(Error::while_connecting)?;
    Ok(Identity {
        remote_id: user.id,
        username: user.username,
        display_name: user.name,
        meta: Map::new(),
        secrets: session.secrets.clone(),
        expires_at: oauth::ends(&session.secrets),
    }
    .pictured(user.threads_profile_picture_url))
}
