//! Calls to the Bot API.

use std::time::Duration;

use fanfare_outbound::{Multipart, Reply, Request};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{
    credentials::Credentials,
    error::{new_chat_id, parse_error},
    message::Call,
};
use crate::{Error, ErrorKind, Result, Session};

/// The envelope of every response.
#[derive(Deserialize)]
struct Envelope<T> {
    result: Option<T>,
}

/// The bot.
#[derive(Debug, Deserialize)]
pub(super) struct User {
    pub id: i64,
    pub username: Option<String>,
}

/// The chat that the bot posts in.
#[derive(Debug, Deserialize)]
pub(super) struct Chat {
    pub id: i64,
    /// `private`, `group`, `supergroup` or `channel`.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: Option<String>,
    pub username: Option<String>,
    pub first_name: Option<String>,
}

/// The bot's permissions in the chat.
#[derive(Debug, Deserialize)]
pub(super) struct ChatMember {
    pub status: String,
    pub can_post_messages: Option<bool>,
    pub can_send_messages: Option<bool>,
}

/// The sent messages: the response to an album is a list.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Sent {
    One(Message),
    Album(Vec<Message>),
}

/// A sent message.
#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub message_id: i64,
}

impl Sent {
    /// Returns the ids of the messages, in order.
    pub fn ids(&self) -> Vec<i64> {
        match self {
            Self::One(message) => vec![message.message_id],
            Self::Album(messages) => messages.iter().map(|message| message.message_id).collect(),
        }
    }
}

/// Calls a method that only reads.
pub(super) async fn get<T: DeserializeOwned>(
    session: &Session,
    credentials: &Credentials,
    method: &str,
    query: &[(&str, &str)],
) -> Result<T> {
    let request = session.http.get(credentials.url(session, method)?).query(query);
    send(credentials, request).await
}

/// Reads the files of `call`, then sends it.
pub(super) async fn post(
    session: &Session,
    credentials: &Credentials,
    call: Call<'_>,
    deadline: Duration,
) -> Result<Sent> {
    let url = credentials.url(session, call.method)?;
    let mut params = call.params;
    params.insert("chat_id".to_owned(), Value::from(credentials.chat_id.as_str()));
    let mut files = Multipart::new();
    for file in &call.files {
        let content = file.media.stream(file.bytes_max).await?;
        files = files.stream(&file.field, &file.media.filename, &file.media.mime, content);
    }
    let request = session.http.post(url).deadline(deadline);
    let request = if call.files.is_empty() {
        request.json(&params)
    } else {
        request.multipart(with_fields(files, &params))
    };
    send(credentials, request).await
}

/// Adds parameters to a form; values that are not texts are sent as JSON.
fn with_fields(form: Multipart, params: &Map<String, Value>) -> Multipart {
    params.iter().fold(form, |form, (name, value)| match value {
        Value::String(text) => form.text(name, text),
        other => form.text(name, &other.to_string()),
    })
}

async fn send<T: DeserializeOwned>(credentials: &Credentials, request: Request) -> Result<T> {
    let reply: Reply = request.send().await?;
    if reply.is_success() {
        let answer: Envelope<T> = reply.json()?;
        return answer.result.ok_or_else(|| {
            Error::new(ErrorKind::Ambiguous, "Telegram answered without a result.")
        });
    }
    Err(refusal(credentials, &reply))
}

fn refusal(credentials: &Credentials, reply: &Reply) -> Error {
    let mut error = parse_error(reply);
    if let Some(words) = error.reply.as_mut().and_then(|reply| reply.message.as_mut()) {
        *words = credentials.redact(words);
    }
    error
}

/// Returns the new id of the chat, if it has become a supergroup.
pub(super) async fn new_chat(session: &Session, credentials: &Credentials) -> Result<Option<i64>> {
    let chat = [("chat_id", credentials.chat_id.as_str())];
    let reply = session.http.get(credentials.url(session, "getChat")?).query(&chat).send().await?;
    match new_chat_id(&reply) {
        Some(id) => Ok(Some(id)),
        None if reply.is_success() => Ok(None),
        None => Err(refusal(credentials, &reply)),
    }
}
