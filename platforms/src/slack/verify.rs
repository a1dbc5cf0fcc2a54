//! Asks Slack whose token it is, and looks at the channel.

use serde_json::{Map, json};

use super::client;
use crate::{Error, Identity, Result, Session};

/// Finds the workspace and the channel.
pub async fn verify(session: &Session) -> Result<Identity> {
    let bot = client::auth_test(session).await.map_err(Error::while_connecting)?;
    let id = session.secrets.expose("channel_id").trim().to_owned();
    let channel = client::channel(session, &id).await.map_err(Error::while_connecting)?;
    if channel.is_archived {
        return Err(Error::invalid_credentials("The channel is archived.")
            .with_remedy("Choose another channel."));
    }
    if channel.is_private && !channel.is_member {
        return Err(Error::invalid_credentials("The app is not a member of the private channel.")
            .with_remedy("Invite the app with /invite, then connect again."));
    }
    let meta = Map::from_iter([
        ("team_id".to_owned(), json!(bot.team_id)),
        ("team".to_owned(), json!(bot.team)),
        ("channel_id".to_owned(), json!(channel.id)),
        ("bot_user_id".to_owned(), json!(bot.user_id)),
        ("url".to_owned(), json!(bot.url.trim_end_matches('/'))),
    ]);
    Ok(Identity {
        remote_id: format!("{}:{}", bot.team_id, channel.id),
        username: format!("#{}", channel.name),
        display_name: Some(bot.team),
        meta,
        secrets: session.secrets.clone(),
        expires_at: None,
    })
}
