//! Reads the owner of the token, and the channel or all channels to choose from.

use serde_json::{Map, json};

use super::client::{self, Bot, Channel};
use crate::{Error, Identity, Result, Session, oauth};

/// Reads the workspace and the channel.
pub async fn verify(session: &Session) -> Result<Identity> {
    let bot = client::auth_test(session).await.map_err(Error::while_connecting)?;
    let id = session.secrets.expose("channel_id").trim().to_owned();
    let channel = client::channel(session, &id).await.map_err(Error::while_connecting)?;
    if channel.is_archived {
        return Err(Error::invalid_credentials("The channel is archived.")
            .with_remedy("Choose another channel."));
    }
    if !may_post(&channel) {
        return Err(Error::invalid_credentials("The app is not a member of the private channel.")
            .with_remedy("Invite the app with /invite, then connect again."));
    }
    Ok(identity(session, &bot, channel))
}

/// Returns every channel that the bot may post in.
pub async fn channels(session: &Session) -> Result<Vec<Identity>> {
    let bot = client::auth_test(session).await.map_err(Error::while_connecting)?;
    let all = client::channels(session).await.map_err(Error::while_connecting)?;
    Ok(all.into_iter().filter(may_post).map(|channel| identity(session, &bot, channel)).collect())
}

/// Returns true if the bot may post in the channel: it must have been invited to a private one.
const fn may_post(channel: &Channel) -> bool {
    !channel.is_private || channel.is_member
}

fn identity(session: &Session, bot: &Bot, channel: Channel) -> Identity {
    let meta = Map::from_iter([
        ("team_id".to_owned(), json!(bot.team_id)),
        ("team".to_owned(), json!(bot.team)),
        ("channel_id".to_owned(), json!(channel.id)),
        ("bot_user_id".to_owned(), json!(bot.user_id)),
        ("url".to_owned(), json!(bot.url.trim_end_matches('/'))),
    ]);
    Identity {
        remote_id: format!("{}:{}", bot.team_id, channel.id),
        username: format!("#{}", channel.name),
        display_name: Some(bot.team.clone()),
        meta,
        secrets: session.secrets.clone().with("channel_id", channel.id),
        expires_at: oauth::access_token_expiry(&session.secrets),
    }
}
