//! Connecting a webhook.

use serde_json::{Map, Value};

use super::{client, webhook::Webhook};
use crate::{Error, Identity, Result, Session};

/// The type of a webhook that a user created in a channel; the others belong to followed channels and to apps.
const INCOMING: u8 = 1;

/// The base address of Discord's pictures.
const PICTURES: &str = "https://cdn.discordapp.com/avatars";

/// Reads the webhook and returns its account.
pub(super) async fn verify(session: &Session) -> Result<Identity> {
    let address = session.secrets.expose("webhook_url");
    let webhook = Webhook::parse(session, address).ok_or_else(|| {
        Error::invalid_credentials("This is not the address of a Discord webhook.").with_remedy(
            "Copy the address from the channel's settings; it starts with https://discord.com/api/webhooks/. A thread_id \
             behind it is the number of a thread.",
        )
    })?;
    let about = client::get(session, &webhook).await.map_err(Error::while_connecting)?;
    if about.kind != INCOMING || about.id != webhook.id {
        return Err(Error::invalid_credentials("This webhook cannot send messages."));
    }
    let mut meta = Map::new();
    let said = [
        ("guild_id", about.guild_id),
        ("channel_id", about.channel_id),
        ("thread_id", webhook.thread.clone()),
    ];
    for (name, value) in said {
        if let Some(value) = value {
            meta.insert(name.to_owned(), Value::String(value));
        }
    }
    let username = about.name.filter(|name| !name.is_empty());
    let picture = about.avatar.map(|hash| format!("{PICTURES}/{}/{hash}.png", about.id));
    Ok(Identity {
        username: username.unwrap_or_else(|| about.id.clone()),
        // Two threads of one channel are two accounts: posts of one must never appear in the other.
        remote_id: match &webhook.thread {
            Some(thread) => format!("{}/{thread}", about.id),
            None => about.id,
        },
        display_name: None,
        meta,
        secrets: session.secrets.clone(),
        expires_at: None,
    }
    .with_picture_url(picture))
}
