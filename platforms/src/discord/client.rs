//! Calls to Discord webhooks.

use std::time::Duration;

use fanfare_outbound::{Multipart, Reply, Request};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{error::parse_error, webhook::Webhook};
use crate::{Error, MediaStream, Result, Session};

/// The message that a webhook sends.
#[derive(Debug, Serialize)]
pub(super) struct ExecuteWebhook<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    pub content: &'a str,
    pub allowed_mentions: AllowedMentions,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_name: Option<&'a str>,
}

/// The mentions that notify somebody. The list is empty, so that no caption can ping everyone.
#[derive(Debug, Default, Serialize)]
pub(super) struct AllowedMentions {
    parse: [&'static str; 0],
}

/// The description of `files[id]`. Ids are texts (<https://github.com/discord/discord-api-spec>, `SnowflakeType`).
#[derive(Debug, Serialize)]
pub(super) struct Attachment<'a> {
    pub id: String,
    pub filename: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<&'a str>,
}

/// One file of a message.
pub(super) struct File<'a> {
    pub filename: &'a str,
    pub mime: &'a str,
    pub content: (u64, MediaStream),
}

/// The created message.
#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub id: String,
    pub channel_id: String,
    #[serde(default)]
    pub content: String,
}

/// Information about a webhook.
#[derive(Debug, Deserialize)]
pub(super) struct WebhookInfo {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: u8,
    pub name: Option<String>,
    pub channel_id: Option<String>,
    pub guild_id: Option<String>,
    /// The hash of its picture.
    pub avatar: Option<String>,
}

/// Sends a message and waits until Discord has stored it: without `wait` the response would contain no id, and a
/// message that was not stored would cause no error.
pub(super) async fn execute(
    session: &Session,
    webhook: &Webhook,
    thread_id: Option<&str>,
    message: &ExecuteWebhook<'_>,
    files: Vec<File<'_>>,
    deadline: Duration,
) -> Result<Message> {
    let mut request =
        session.http.post(webhook.url(session)?).query(&[("wait", "true")]).deadline(deadline);
    // A new thread is opened in the channel itself.
    let thread_id =
        thread_id.or(webhook.thread.as_deref().filter(|_| message.thread_name.is_none()));
    if let Some(thread_id) = thread_id {
        request = request.query(&[("thread_id", thread_id)]);
    }
    let request = if files.is_empty() {
        request.json(message)
    } else {
        request.multipart(form(message, files)?)
    };
    send(session, webhook, request).await
}

/// Reads a webhook; its address is the only credential.
pub(super) async fn get(session: &Session, webhook: &Webhook) -> Result<WebhookInfo> {
    send(session, webhook, session.http.get(webhook.url(session)?)).await
}

/// Reads a message that the webhook has sent, in its channel or in a thread of it.
pub(super) async fn message(
    session: &Session,
    webhook: &Webhook,
    id: &str,
    thread_id: Option<&str>,
) -> Result<Message> {
    let query: Vec<_> = thread_id.map(|thread| ("thread_id", thread)).into_iter().collect();
    let request = session.http.get(webhook.message_url(session, id)?).query(&query);
    send(session, webhook, request).await
}

fn form(message: &ExecuteWebhook<'_>, files: Vec<File<'_>>) -> Result<Multipart> {
    let payload = serde_json::to_string(message)
        .map_err(|_| Error::rejected("The message cannot be written as JSON."))?;
    let form = Multipart::new().text("payload_json", &payload);
    Ok(files.into_iter().enumerate().fold(form, |form, (index, file)| {
        form.stream(&format!("files[{index}]"), file.filename, file.mime, file.content)
    }))
}

async fn send<T: DeserializeOwned>(
    session: &Session,
    webhook: &Webhook,
    request: Request,
) -> Result<T> {
    let reply: Reply = request.send().await?;
    if reply.is_success() {
        return Ok(reply.json()?);
    }
    let mut error = parse_error(session, &reply);
    if let Some(words) = error.reply.as_mut().and_then(|reply| reply.message.as_mut()) {
        *words = webhook.redact(words);
    }
    Err(error)
}
