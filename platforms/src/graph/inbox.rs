//! Messages and comments of pages and of the Instagram accounts that are linked to them, which share one API.

use std::time::Duration;

use chrono::{DateTime, Utc};
use fanfare_outbound::Reply;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{List, get, ids_of, known, list_query, send, time, url};
use crate::{
    Attachment, Error, ErrorKind, InboundEvent, InboundItem, InboxPage, MessageFile, Person,
    Progress, RecoveryClass, RefusalReason, RemoteChange, RemoteMessage, RemotePost, Result,
    Session, recent_posts::ListPage,
};

/// The longest time a call that changes something may take.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// The fields that are read of a conversation, with its latest messages
/// (<https://developers.facebook.com/docs/messenger-platform/conversations>).
const MESSAGES: &str =
    "id,updated_time,participants,messages.limit(20){id,created_time,from,to,message,attachments}";

/// The number of latest messages that are listed with a conversation.
pub(super) const MESSAGES_LISTED: usize = 20;

/// The inbox of one of Meta's networks, through the shared API.
#[derive(Clone, Copy)]
pub struct GraphInbox {
    /// Name of the network, for people.
    pub label: &'static str,
    /// Converts an error response.
    pub parse: fn(&Reply) -> Error,
    /// The `platform` of its conversations.
    pub platform: &'static str,
    /// The edge of a comment through which replies are created and listed.
    pub replies: &'static str,
    /// The parameter that hides a comment.
    pub hide: &'static str,
}

#[derive(Deserialize)]
struct Conversation {
    #[serde(default)]
    participants: Option<List<GraphUser>>,
    #[serde(default)]
    messages: Option<List<Value>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct GraphUser {
    /// The id.
    pub id: String,
    /// The name.
    pub name: Option<String>,
    /// The user name.
    pub username: Option<String>,
}

impl From<GraphUser> for Person {
    fn from(named: GraphUser) -> Self {
        Self { id: named.id, username: named.username, name: named.name, avatar_url: None }
    }
}

#[derive(Deserialize)]
struct Message {
    id: String,
    #[serde(deserialize_with = "time")]
    created_time: DateTime<Utc>,
    #[serde(default)]
    from: GraphUser,
    #[serde(default)]
    message: String,
    #[serde(default)]
    attachments: Option<List<Value>>,
}

#[derive(Deserialize)]
struct SentMessage {
    #[serde(default)]
    message_id: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ChangeResponse {
    id: String,
    success: Option<bool>,
}

#[derive(Deserialize)]
pub(super) struct ListedReply {
    pub id: String,
    #[serde(alias = "text", default)]
    pub message: String,
    #[serde(alias = "timestamp", deserialize_with = "time")]
    pub created_time: DateTime<Utc>,
}

impl GraphInbox {
    /// Returns the id of the page through which messages are sent.
    fn page(session: &Session) -> &str {
        session.account.meta_str("page_id").unwrap_or(&session.account.remote_id)
    }

    /// Reads a page of conversations; `with` limits it to the conversation with one person.
    pub async fn conversations(
        &self,
        session: &Session,
        with: Option<&str>,
        next: Option<&str>,
    ) -> Result<InboxPage<Vec<RemoteMessage>>> {
        let mut query = list_query(MESSAGES, "25", next);
        query.push(("platform", self.platform));
        query.extend(with.map(|person| ("user_id", person)));
        let path = format!("/{}/conversations", Self::page(session));
        let found: List<Value> = get(session, &path, &query, self.parse).await?;
        let (page, unread) = found.into_known_page();
        let own = [session.account.remote_id.as_str(), Self::page(session)];
        let (mut items, mut unread) = (Vec::with_capacity(page.items.len()), ids_of(&unread));
        for conversation in page.items {
            let (known, unknown) = messages(conversation, own);
            items.push(known);
            unread.extend(ids_of(&unknown));
        }
        Ok(InboxPage { page: ListPage { items, next: page.next }, unread })
    }

    /// Reads the account's recent posts at this path, whose times stand in this field.
    pub async fn recent_posts<T: DeserializeOwned + Into<RemotePost>>(
        &self,
        session: &Session,
        path: &str,
        fields: &str,
    ) -> Result<InboxPage<RemotePost>> {
        let query = list_query(fields, "100", None);
        let listed: List<Value> = get(session, path, &query, self.parse).await?;
        Ok(recent_posts::<T>(listed))
    }

    /// Subscribes to the webhooks of these fields.
    pub async fn subscribe(&self, session: &Session, fields: &str) -> Result<()> {
        let path = format!("/{}/subscribed_apps", Self::page(session));
        let request = session.http.post(url(session, &path)?);
        let request = request.form(&[("subscribed_fields", fields)]).deadline(DEADLINE);
        send::<ChangeResponse>(session, request, self.parse).await.map(drop)
    }

    /// Returns how to find out what became of a lost call.
    pub const fn class(change: &RemoteChange) -> RecoveryClass {
        match change {
            RemoteChange::Message { .. } | RemoteChange::Reply { .. } => RecoveryClass::Search,
            // Repeating these has no further effect, or is refused as done.
            _ => RecoveryClass::Key { window: None },
        }
    }

    /// Makes the call for a change.
    pub async fn apply_change(&self, session: &Session, change: &RemoteChange) -> Result<Progress> {
        match change {
            RemoteChange::Message { to, text, file, human_agent, mark } => {
                let mut body = json!({"recipient": {"id": to}, "message": content(text.as_deref(), file.as_ref())});
                body["messaging_type"] =
                    json!(if *human_agent { "MESSAGE_TAG" } else { "RESPONSE" });
                if *human_agent {
                    body["tag"] = json!("HUMAN_AGENT");
                }
                if self.platform == "messenger" {
                    body["message"]["metadata"] = json!(mark);
                }
                self.send_message(session, &body).await
            }
            RemoteChange::PrivateReply { comment, text } => {
                let body = json!({"recipient": {"comment_id": comment}, "message": {"text": text}});
                self.send_message(session, &body).await
            }
            RemoteChange::Reply { comment, text } => {
                let path = format!("/{comment}/{}", self.replies);
                let request = session.http.post(url(session, &path)?).form(&[("message", text)]);
                let made: ChangeResponse =
                    send(session, request.deadline(DEADLINE), self.parse).await?;
                if made.id.is_empty() {
                    return Err(self.missing_id());
                }
                Ok(Progress::done(made.id, None))
            }
            RemoteChange::Hide { comment, hidden } => {
                let request = session.http.post(url(session, &format!("/{comment}"))?);
                let request = request.form(&[(self.hide, hidden.to_string())]);
                self.change_comment(session, comment, request).await
            }
            RemoteChange::Delete { comment } => {
                let request = session
                    .http
                    .request(http::Method::DELETE, url(session, &format!("/{comment}"))?);
                self.change_comment(session, comment, request).await
            }
            _ => Err(Error::defect(format!("{} takes no such change.", self.label))),
        }
    }

    async fn send_message(&self, session: &Session, body: &Value) -> Result<Progress> {
        let path = format!("/{}/messages", Self::page(session));
        let request = session.http.post(url(session, &path)?).json(body).deadline(DEADLINE);
        let sent: SentMessage = send(session, request, self.parse).await?;
        if sent.message_id.is_empty() {
            return Err(self.missing_id());
        }
        Ok(Progress::done(sent.message_id, None))
    }

    async fn change_comment(
        &self,
        session: &Session,
        comment: &str,
        request: fanfare_outbound::Request,
    ) -> Result<Progress> {
        let made: ChangeResponse = send(session, request.deadline(DEADLINE), self.parse).await?;
        if made.success == Some(false) {
            return Err(Error::transient(format!("{} did not do it.", self.label)));
        }
        Ok(Progress::done(comment, None))
    }

    fn missing_id(&self) -> Error {
        Error::new(ErrorKind::Ambiguous, format!("{} answered without an id.", self.label))
    }
}

fn content(text: Option<&str>, file: Option<&MessageFile>) -> Value {
    match (text, file) {
        (Some(text), _) => json!({ "text": text }),
        (None, Some(file)) => {
            let kind = file.mime.split('/').next().unwrap_or_default();
            let kind = if ["image", "video", "audio"].contains(&kind) { kind } else { "file" };
            json!({"attachment": {"type": kind, "payload": {"url": file.url}}})
        }
        (None, None) => json!({}),
    }
}

/// Returns the posts of a list, each read alone.
pub fn recent_posts<T: DeserializeOwned + Into<RemotePost>>(
    listed: List<Value>,
) -> InboxPage<RemotePost> {
    let (page, unread) = listed.into_known_page::<T>();
    let items = page.items.into_iter().map(Into::into).collect();
    InboxPage { page: ListPage { items, next: None }, unread: ids_of(&unread) }
}

/// Returns the messages of a conversation, and those of an unknown form; none if the other participant is unknown.
fn messages(conversation: Conversation, own: [&str; 2]) -> (Vec<RemoteMessage>, Vec<Value>) {
    let others = conversation.participants.map(|list| list.data).unwrap_or_default();
    let other = others.into_iter().find(|one| !own.contains(&one.id.as_str()));
    let Some(participant) = other.map(Person::from) else { return (Vec::new(), Vec::new()) };
    let (listed, unread) = known(conversation.messages.map(|list| list.data).unwrap_or_default());
    let message = |one: Message| RemoteMessage {
        out: own.contains(&one.from.id.as_str()),
        participant: participant.clone(),
        attachments: one.attachments.map(|list| listed_files(&list.data)).unwrap_or_default(),
        id: one.id,
        text: one.message,
        at: one.created_time,
        mark: None,
    };
    (listed.into_iter().map(message).collect(), unread)
}

/// Reads files in the format of message lists.
fn listed_files(files: &[Value]) -> Vec<Attachment> {
    let file = |one: &Value| {
        let places = [("image_data", "image"), ("video_data", "video"), ("file_url", "file")];
        let found = places.iter().find_map(|(place, kind)| {
            let data = &one[*place];
            let url = data["url"].as_str().or_else(|| data.as_str())?;
            Some((*kind, url.to_owned()))
        });
        let (kind, url) = found.map_or(("other", None), |(kind, url)| (kind, Some(url)));
        Attachment { kind: kind.to_owned(), url }
    };
    files.iter().map(file).collect()
}

/// Reads files in the format of webhooks.
fn webhook_files(files: &Value) -> Vec<Attachment> {
    let file = |one: &Value| {
        let kind = match one["type"].as_str().unwrap_or_default() {
            kind @ ("image" | "video" | "audio" | "file" | "share") => kind,
            "story_mention" | "story" => "story",
            "like_heart" | "sticker" => "sticker",
            "ig_reel" | "reel" | "post" => "share",
            _ => "other",
        };
        let url = one["payload"]["url"].as_str().map(str::to_owned);
        Attachment { kind: kind.to_owned(), url }
    };
    files.as_array().into_iter().flatten().map(file).collect()
}

/// Returns the reason of a refusal by Meta.
pub fn refusal_reason(change: &RemoteChange, error: &Error) -> Option<RefusalReason> {
    let reply = error.reply.as_ref()?;
    let code = reply.code.as_deref().unwrap_or_default();
    let parts: Vec<&str> = code.split('/').collect();
    let has = |number: &str| parts.contains(&number);
    Some(if has("2534022") || has("2018278") {
        RefusalReason::WindowClosed
    } else if has("2534025") {
        RefusalReason::Done
    } else if has("2534014") || has("2534001") || has("2534013") {
        RefusalReason::NotAllowed
    } else if has("33") || has("803") {
        match change {
            RemoteChange::Delete { .. } => RefusalReason::Done,
            _ => RefusalReason::NotAllowed,
        }
    } else if parts
        .first()
        .is_some_and(|code| *code == "10" || (code.len() == 3 && code.starts_with('2')))
    {
        RefusalReason::PermissionMissing
    } else {
        return None;
    })
}

/// Reads the messages in an entry of a webhook.
pub fn read_messaging(account: &str, entry: &Value) -> Vec<InboundEvent> {
    let events = entry["messaging"].as_array().into_iter().flatten();
    events.filter_map(|event| read_message(account, event)).collect()
}

fn read_message(account: &str, event: &Value) -> Option<InboundEvent> {
    let message = event.get("message")?;
    let id = message["mid"].as_str()?.to_owned();
    let out = message["is_echo"].as_bool().unwrap_or(false);
    let other = if out { &event["recipient"]["id"] } else { &event["sender"]["id"] };
    let participant = Person { id: other.as_str()?.to_owned(), ..Person::default() };
    let at = DateTime::from_timestamp_millis(event["timestamp"].as_i64()?)?;
    let deleted = message["is_deleted"].as_bool().unwrap_or(false);
    let mut attachments = webhook_files(&message["attachments"]);
    if let Some(story) = message["reply_to"]["story"].as_object() {
        let url = story.get("url").and_then(Value::as_str).map(str::to_owned);
        attachments.push(Attachment { kind: "story".to_owned(), url });
    }
    let item = if deleted {
        InboundItem::Unsent { id: id.clone(), participant, out }
    } else {
        InboundItem::Message(RemoteMessage {
            id: id.clone(),
            participant,
            out,
            text: message["text"].as_str().unwrap_or_default().to_owned(),
            attachments,
            at,
            mark: message["metadata"].as_str().map(str::to_owned),
        })
    };
    let verb = if deleted { "unsend" } else { "add" };
    let (account, field) = (account.to_owned(), "messages".to_owned());
    Some(InboundEvent { account, field, id, verb: verb.to_owned(), at, item })
}

/// Returns the entries of a webhook about `object`; the body may be a list of bodies.
pub fn entries<'a>(body: &'a Value, object: &str) -> Vec<&'a Value> {
    let bodies = match body {
        Value::Array(bodies) => bodies.iter().collect(),
        body => vec![body],
    };
    let ours = bodies.into_iter().filter(|body| body["object"] == object);
    ours.filter_map(|body| body["entry"].as_array()).flatten().collect()
}

/// Returns the changes of an entry, each a field with its value; some entries have no `changes` list.
pub fn changes(entry: &Value) -> Vec<(&str, &Value)> {
    let listed = entry["changes"].as_array().into_iter().flatten();
    let bare = entry.get("field").map(|_| entry);
    let all = listed.chain(bare);
    all.filter_map(|change| Some((change["field"].as_str()?, change.get("value")?))).collect()
}
