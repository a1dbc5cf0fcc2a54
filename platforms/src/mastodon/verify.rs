//! Reads the owner of a token and the limits of the instance.

use serde_json::json;

use super::{OAUTH, client::Instance, limits};
use crate::{
    Error, Identity, Result, Session, instance,
    oauth::{self, App},
};

/// Registers this service as an app with an instance.
pub async fn register(session: &Session, redirect_uri: &str) -> Result<App> {
    let scopes: Vec<_> = OAUTH.permissions.iter().map(|permission| permission.name).collect();
    let there = Instance::of(session)?;
    let made = there.register(redirect_uri, &scopes.join(" ")).await;
    let made = made.map_err(Error::while_connecting)?;
    Ok(App { client_id: made.client_id, client_secret: made.client_secret.into() })
}

/// Reads the user and the limits of the instance.
pub async fn verify(session: &Session) -> Result<Identity> {
    let address = instance::normalized_url("instance_url", session.secrets.expose("instance_url"))?;
    let user = Instance::of(session)?.me().await.map_err(Error::while_connecting)?;
    let mut meta = limits::read(session).await.map_err(Error::while_connecting)?;
    meta.insert("instance_url".to_owned(), json!(address.as_str().trim_end_matches('/')));
    meta.insert("url".to_owned(), json!(user.url));
    let place = instance::host_and_path(&address);
    Ok(Identity {
        remote_id: format!("{place}:{}", user.id),
        username: format!("{}@{place}", user.username),
        display_name: Some(user.display_name).filter(|name| !name.is_empty()),
        meta,
        secrets: session.secrets.clone(),
        expires_at: oauth::access_token_expiry(&session.secrets),
    }
    .with_picture_url(user.avatar_static))
}
