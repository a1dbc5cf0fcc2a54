//! Connecting a bot and a chat.

use serde_json::{Map, Value};

use super::{
    client::{self, Chat, ChatMember, User},
    credentials::Credentials,
};
use crate::{Error, Identity, RefreshedTokens, Result, Session};

/// Reads the bot and the chat, and checks that the bot may post there.
pub(super) async fn verify(session: &Session) -> Result<Identity> {
    let credentials = Credentials::of(session)?;
    let get = async |method: &'static str| ask(session, &credentials, method, &[]).await;
    let bot: User = get("getMe").await?;
    let chat_id = [("chat_id", credentials.chat_id.as_str())];
    let chat: Chat = ask(session, &credentials, "getChat", &chat_id).await?;
    // A user whose private chat was found has started the bot; such a chat has no roles.
    if chat.kind != "private" {
        let user_id = bot.id.to_string();
        let member = [chat_id[0], ("user_id", user_id.as_str())];
        let member: ChatMember = ask(session, &credentials, "getChatMember", &member).await?;
        may_post(&chat, &member)?;
    }
    Ok(identity(session, bot, chat))
}

/// Returns the account with the new id of a group that has become a supergroup; `None` if it has not.
pub(super) async fn moved(session: &Session) -> Result<Option<RefreshedTokens>> {
    let credentials = Credentials::of(session)?;
    let chat = client::new_chat(session, &credentials).await?.map(|id| id.to_string());
    Ok(chat.map(|chat| RefreshedTokens {
        secrets: session.secrets.clone().with("chat_id", chat.as_str()),
        expires_at: None,
        remote_id: Some(chat),
    }))
}

async fn ask<T: serde::de::DeserializeOwned>(
    session: &Session,
    credentials: &Credentials,
    method: &str,
    query: &[(&str, &str)],
) -> Result<T> {
    client::get(session, credentials, method, query).await.map_err(Error::while_connecting)
}

fn may_post(chat: &Chat, member: &ChatMember) -> Result<()> {
    let allowed = match (chat.kind.as_str(), member.status.as_str()) {
        (_, "creator") => true,
        ("channel", "administrator") => member.can_post_messages == Some(true),
        ("channel", _) => false,
        (_, "administrator" | "member") => true,
        (_, "restricted") => member.can_send_messages == Some(true),
        _ => false,
    };
    if allowed {
        return Ok(());
    }
    let (message, remedy) = if chat.kind == "channel" {
        (
            "The bot may not post in the channel.",
            "Make the bot an administrator of the channel with the right to post messages.",
        )
    } else {
        (
            "The bot may not write in the group.",
            "Add the bot to the group and let its members send messages.",
        )
    };
    Err(Error::invalid_credentials(message).with_remedy(remedy))
}

fn identity(session: &Session, bot: User, chat: Chat) -> Identity {
    let id = chat.id.to_string();
    let facts = [
        ("chat_username", chat.username.clone()),
        ("chat_type", Some(chat.kind)),
        ("title", chat.title.clone()),
        ("bot_username", bot.username),
    ];
    let meta: Map<String, Value> = facts
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), Value::String(value?))))
        .collect();
    let name = chat.username.or_else(|| chat.title.clone()).or(chat.first_name);
    Identity {
        username: name.unwrap_or_else(|| id.clone()),
        // The number stays the same when the chat is renamed.
        secrets: session.secrets.clone().with("chat_id", id.as_str()),
        remote_id: id,
        display_name: chat.title,
        meta,
        expires_at: None,
    }
}
