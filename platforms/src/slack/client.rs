//! Calls to Slack's Web API.

use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use fanfare_outbound::Request;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use url::Url;

use super::{SPEC, error};
use crate::{
    Error, ErrorKind, Result, Session,
    recent_posts::{Entry, ListPage},
};

const UPLOAD_DEADLINE: Duration = Duration::from_secs(120);
/// The largest response: a channel's history comes with all its texts and blocks.
const REPLY_MAX: usize = 16 * 1024 * 1024;

/// The owner of the token.
#[derive(Debug, Deserialize)]
pub struct Bot {
    pub team: String,
    pub team_id: String,
    pub user_id: String,
    pub url: String,
}

/// The channel.
#[derive(Debug, Deserialize)]
pub struct Channel {
    pub id: String,
    pub name: String,
    #[serde(default)]
    pub is_private: bool,
    #[serde(default)]
    pub is_member: bool,
    #[serde(default)]
    pub is_archived: bool,
}

/// A message of the channel.
#[derive(Debug, Deserialize)]
pub struct Message {
    pub ts: String,
    #[serde(default)]
    pub metadata: Value,
    #[serde(default)]
    pub files: Vec<File>,
}

impl Entry for Message {
    /// Parses its timestamp, in seconds and microseconds.
    fn created_at(&self) -> Option<DateTime<Utc>> {
        let (seconds, micros) = self.ts.split_once('.')?;
        let whole = DateTime::from_timestamp(seconds.parse().ok()?, 0)?;
        Some(whole + TimeDelta::microseconds(micros.parse().ok()?))
    }

    /// Returns `None`: Slack itself leaves out older messages, except the start of a thread, which comes first.
    fn sort_time(&self) -> Option<DateTime<Utc>> {
        None
    }
}

/// A file of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// The upload address of a file.
#[derive(Debug, Deserialize)]
pub struct UploadUrl {
    pub upload_url: String,
    pub file_id: String,
}

#[derive(Deserialize)]
struct History {
    messages: Vec<Message>,
    response_metadata: Option<ResponseMetadata>,
}

/// The link to the next page, if there is one.
#[derive(Deserialize)]
struct ResponseMetadata {
    next_cursor: Option<String>,
}

/// `auth.test`
pub async fn auth_test(session: &Session) -> Result<Bot> {
    read(call(session, "auth.test", &json!({})).await?)
}

/// `conversations.info`
pub async fn channel(session: &Session, id: &str) -> Result<Channel> {
    let answer = ask(session, "conversations.info", &[("channel", id)]).await?;
    read(answer["channel"].clone())
}

/// `conversations.list`: up to 1,000 channels the bot may post in, without archived ones.
pub async fn channels(session: &Session) -> Result<Vec<Channel>> {
    let query = [
        ("types", "public_channel,private_channel"),
        ("exclude_archived", "true"),
        ("limit", "1000"),
    ];
    let answer = ask(session, "conversations.list", &query).await?;
    read(answer["channels"].clone())
}

/// `conversations.join`
pub async fn join(session: &Session, channel: &str) -> Result<()> {
    call(session, "conversations.join", &json!({ "channel": channel })).await.map(drop)
}

/// `chat.postMessage`; returns the timestamp, which is the message's id.
pub async fn post_message(session: &Session, message: &Value) -> Result<String> {
    let answer = call(session, "chat.postMessage", message).await?;
    read(answer["ts"].clone())
}

/// `files.getUploadURLExternal`
pub async fn request_upload_url(
    session: &Session,
    filename: &str,
    length: u64,
    alt: Option<&str>,
) -> Result<UploadUrl> {
    let length = length.to_string();
    let mut query = vec![("filename", filename), ("length", length.as_str())];
    // Slack's page names it alt_txt, Slack's own client alt_text; names that are not known are ignored.
    query.extend(alt.into_iter().flat_map(|alt| [("alt_txt", alt), ("alt_text", alt)]));
    read(ask(session, "files.getUploadURLExternal", &query).await?)
}

/// Sends the bytes of a file to its upload address.
pub async fn upload(session: &Session, upload_url: &str, mime: &str, bytes: Bytes) -> Result<()> {
    let url = Url::parse(upload_url)
        .map_err(|_| Error::transient("Slack named no address for a file."))?;
    let reply = session.http.post(url).body(mime, bytes).deadline(UPLOAD_DEADLINE).send().await?;
    if reply.is_success() { Ok(()) } else { Err(error::error_of_reply(session, &reply)) }
}

/// `files.completeUploadExternal`: creates the message with the files.
pub async fn complete(session: &Session, message: &Value) -> Result<()> {
    call(session, "files.completeUploadExternal", message).await.map(drop)
}

/// `files.info`: returns the timestamp of the message that shares a file, once Slack has created it.
pub async fn shared_as(session: &Session, file: &str, channel: &str) -> Result<Option<String>> {
    let answer = ask(session, "files.info", &[("file", file)]).await?;
    let shares =
        |kind: &str| answer["file"]["shares"][kind][channel][0]["ts"].as_str().map(str::to_owned);
    Ok(shares("public").or_else(|| shares("private")))
}

/// The time between two timestamps of messages, in seconds. It is as narrow as it can be: apps outside Slack's marketplace
/// read 15 messages a minute (<https://docs.slack.dev/apis/web-api/rate-limits>).
pub struct Window {
    /// Its begin.
    pub oldest: String,
    /// Its end.
    pub latest: String,
}

/// `conversations.history`: a page of the messages of a time, newest first, with their metadata.
pub async fn history(
    session: &Session,
    channel: &str,
    within: &Window,
    next: Option<String>,
) -> Result<ListPage<Message>> {
    let Window { oldest, latest } = within;
    let of_channel = [("channel", channel), ("oldest", oldest), ("latest", latest)];
    messages(session, "conversations.history", &of_channel, next).await
}

/// `conversations.replies`: a page of the messages of a thread, oldest first.
pub async fn replies(
    session: &Session,
    channel: &str,
    thread: &str,
    within: &Window,
    next: Option<String>,
) -> Result<ListPage<Message>> {
    let Window { oldest, latest } = within;
    let of_thread = [("channel", channel), ("ts", thread), ("oldest", oldest), ("latest", latest)];
    messages(session, "conversations.replies", &of_thread, next).await
}

/// Reads a page of messages. Slack returns up to 999, and advises against requesting more than 200
/// (<https://docs.slack.dev/apis/web-api/pagination>).
async fn messages(
    session: &Session,
    method: &str,
    of: &[(&str, &str)],
    next: Option<String>,
) -> Result<ListPage<Message>> {
    let mut query = of.to_vec();
    query.extend([("limit", "200"), ("include_all_metadata", "true")]);
    query.extend(next.as_deref().map(|cursor| ("cursor", cursor)));
    let history: History = read(ask(session, method, &query).await?)?;
    let next = history.response_metadata.and_then(|following| following.next_cursor);
    Ok(ListPage::with_next(history.messages, next))
}

async fn ask(session: &Session, method: &str, query: &[(&str, &str)]) -> Result<Value> {
    let url = session.url(SPEC.base_url, &format!("/api/{method}"))?;
    send(session, session.http.get(url).query(query)).await
}

async fn call(session: &Session, method: &str, body: &Value) -> Result<Value> {
    let url = session.url(SPEC.base_url, &format!("/api/{method}"))?;
    send(session, session.http.post(url).json(body).deadline(SPEC.commit_deadline)).await
}

/// Sends a request; errors have status 200 too.
async fn send(session: &Session, request: Request) -> Result<Value> {
    let request = request.bearer(session.secrets.require("access_token")?).max_reply(REPLY_MAX);
    let reply = request.send().await?;
    if !reply.is_success() {
        return Err(error::error_of_reply(session, &reply));
    }
    let answer: Value = reply.json()?;
    match answer["ok"].as_bool() {
        Some(true) => Ok(answer),
        Some(false) => Err(error::error_of_response(session, &reply, &answer)),
        None => Err(unreadable_response()),
    }
}

fn read<T: DeserializeOwned>(answer: Value) -> Result<T> {
    serde_json::from_value(answer).map_err(|_| unreadable_response())
}

fn unreadable_response() -> Error {
    Error::new(ErrorKind::Ambiguous, "Slack's answer does not hold what was asked for.")
}
