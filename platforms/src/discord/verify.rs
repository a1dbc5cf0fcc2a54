//! Connecting a webhook.

use serde_json::{Map, Value};

use super::{client, webhook::Webhook};
use crate::{Error, Identity, Result, Session};

/// A webhook that a person made in a channel; the other kinds belong to followed channels and to apps.
const INCOMING: u8 = 1;

/// Asks the webhook who it is.
pub(super) async fn verify(session: &Session) -> Result<Identity> {
    let address = session.secrets.expose("webhook_url");
    let webhook = Webhook::parse(session, address).ok_or_else(|| {
        Error::invalid_credentials("This is not the address of a Discord webhook.").with_remedy(
            "Copy the address from the channel's settings; it starts with https://discord.com/api/webhooks/.",
        )
    })?;
    let about = client::get(session, &webhook).await.map_err(Error::while_connecting)?;
    if about.kind != INCOMING || about.id != webhook.id {
        return Err(Error::invalid_credentials("This webhook cannot send messages."));
    }
    let mut meta = Map::new();
    for (name, value) in [("guild_id", about.guild_id), ("channel_id", about.channel_id)] {
        if let Some(value) = value {
            meta.insert(name.to_owned(), Value::String(value));
        }
    }
    let username = about.name.filter(|name| !name.is_empty());
    Ok(Identity {
        username: username.unwrap_or_else(|| about.id.clone()),
        remote_id: about.id,
        display_name: None,
        meta,
        secrets: session.secrets.clone(),
        expires_at: None,
    })
}
