//! Verifies a token: finds its owner.

use serde_json::{Map, json};

use super::client;
use crate::{Error, Identity, Result, Session, oauth};

/// Reads the owner of the token, and the account's subscription.
pub(super) async fn verify(session: &Session) -> Result<Identity> {
    let user = client::me(session).await.map_err(Error::while_connecting)?;
    let facts =
        [(super::SUBSCRIPTION, user.subscription_type), ("verified_type", user.verified_type)];
    let meta = facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?))));
    Ok(Identity {
        remote_id: user.id,
        username: user.username,
        display_name: user.name,
        meta: Map::from_iter(meta),
        secrets: session.secrets.clone(),
        expires_at: oauth::access_token_expiry(&session.secrets),
    }
    // X returns the picture in 48 pixels; it is also available in 400.
    .with_picture_url(user.profile_image_url.map(|url| url.replace("_normal.", "_400x400."))))
}
