//! Replies to an account's posts.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    SPEC, Threads,
    client::{self, ContainerStatus},
    container,
    error::{failed_container, is_too_early, parse_error},
};
use crate::{
    Error, ErrorKind, InboundEvent, InboundItem, Inbox, InboxPage, InboxRules, LimitScope, Person,
    Progress, RateLimit, ReconcileOutcome, RecoveryClass, RefusalReason, RemoteChange,
    RemoteChanges, RemoteComment, RemotePost, Result, Session, Step, graph,
    outcome::read_state,
    recent_posts::{self, ListPage},
    text::likeness,
};

/// The time a call that makes something public may take.
const DEADLINE: Duration = Duration::from_secs(20);

/// The time to wait between two reads of a container's status.
const POLL: Duration = Duration::from_secs(1);

const RULES: InboxRules = InboxRules {
    messages: false,
    message_max: (500, false),
    comment_max: 500,
    deletes: false,
    private_replies: false,
    hides_top_level_only: true,
    hidden_are_unlisted: false,
    permissions: &["threads_read_replies", "threads_manage_replies"],
};

/// Replies of a profile in any 24 hours, which do not count as posts
/// (<https://developers.facebook.com/docs/threads/overview#rate-limiting>).
const REPLIES: &[RateLimit] =
    &[RateLimit::new(LimitScope::Account, 1_000, 86_400).for_post_types(&["reply"])];

const REPLY: &str =
    "id,text,timestamp,username,permalink,replied_to,root_post,hide_status,is_reply_owned_by_me";

/// A post in a list.
#[derive(Deserialize)]
struct Listed {
    id: String,
    #[serde(deserialize_with = "graph::time")]
    timestamp: DateTime<Utc>,
}

impl From<Listed> for RemotePost {
    fn from(post: Listed) -> Self {
        Self { id: post.id, at: post.timestamp }
    }
}

#[derive(Deserialize)]
struct Reply {
    id: String,
    #[serde(default)]
    text: String,
    #[serde(deserialize_with = "graph::time")]
    timestamp: DateTime<Utc>,
    username: Option<String>,
    permalink: Option<String>,
    replied_to: Option<graph::inbox::GraphUser>,
    hide_status: Option<String>,
    is_reply_owned_by_me: Option<bool>,
}

/// The state of a reply: a container is created first, then published.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct State {
    container: Option<String>,
}

#[derive(Deserialize)]
struct ManageReplyResponse {
    success: Option<bool>,
}

#[async_trait]
impl RemoteChanges for Threads {
    fn class(&self, change: &RemoteChange) -> RecoveryClass {
        match change {
            RemoteChange::Reply { .. } => RecoveryClass::Handle,
            _ => RecoveryClass::Key { window: None },
        }
    }

    fn step(&self, change: &RemoteChange, state: Option<&Value>) -> Step {
        let state: State = read_state(state).unwrap_or_default();
        match (change, state.container) {
            (RemoteChange::Reply { .. }, None) => Step::prepare("create_container"),
            (RemoteChange::Reply { .. }, Some(_)) => Step::commit("publish"),
            _ => Step::commit(change.kind()),
        }
    }

    fn limits(&self, change: &RemoteChange) -> &'static [RateLimit] {
        match change {
            RemoteChange::Reply { .. } => REPLIES,
            _ => &[],
        }
    }

    async fn apply_change(
        &self,
        session: &Session,
        change: &RemoteChange,
        state: Option<Value>,
    ) -> Result<Progress> {
        match change {
            RemoteChange::Reply { comment, text } => reply(session, comment, text, state).await,
            RemoteChange::Hide { comment, hidden } => {
                let path = format!("/v1.0/{comment}/manage_reply");
                let request = session.http.post(session.url(SPEC.base_url, &path)?);
                let request = request.form(&[("hide", hidden.to_string())]).deadline(DEADLINE);
                let done: ManageReplyResponse = graph::send(session, request, parse_error).await?;
                if done.success == Some(false) {
                    return Err(Error::transient("Threads did not do it."));
                }
                Ok(Progress::done(comment, None))
            }
            _ => Err(Error::defect("Threads takes no such change.")),
        }
    }

    async fn find_result(
        &self,
        session: &Session,
        change: &RemoteChange,
        state: Option<Value>,
        sent_at: DateTime<Utc>,
    ) -> Result<ReconcileOutcome> {
        let state: State = read_state(state.as_ref())?;
        let (RemoteChange::Reply { comment, text }, Some(container)) = (change, state.container)
        else {
            return Ok(ReconcileOutcome::Unknown);
        };
        Ok(match client::status(session, &container).await? {
            ContainerStatus::Finished | ContainerStatus::Dead(_) => ReconcileOutcome::NotCommitted,
            ContainerStatus::InProgress => ReconcileOutcome::Unknown,
            ContainerStatus::Published => {
                // It is public; only its id is asked for.
                let alike = |one: &client::Post| likeness(text, &one.text);
                let ask = |next| client::replies(session, comment, next);
                let looked = recent_posts::search(sent_at, alike, ask).await?;
                let result = |one: client::Post| Ok((one.id.clone(), Progress::done(one.id, None)));
                looked.listing(result)?.in_part().into()
            }
        })
    }

    fn refusal_reason(&self, change: &RemoteChange, error: &Error) -> Option<RefusalReason> {
        graph::inbox::refusal_reason(change, error)
    }
}

async fn reply(
    session: &Session,
    comment: &str,
    text: &str,
    state: Option<Value>,
) -> Result<Progress> {
    let mut state: State = read_state(state.as_ref())?;
    let Some(container) = state.container.take() else {
        let made = client::create_container(session, &container::reply(text, comment)).await?;
        state.container = Some(made.clone());
        // A call that comes too early is refused.
        return Ok(Progress::continue_with(&state)?.after(POLL).with_remote_id(Some(made)));
    };
    match client::publish(session, &container, DEADLINE).await {
        Ok(id) => Ok(Progress::done(id, None)),
        // It was created a moment ago, or has failed; its status tells which.
        Err(error) if is_too_early(&error) || error.kind == ErrorKind::Rejected => {
            match client::status(session, &container).await? {
                ContainerStatus::Dead(reason) => Err(failed_container(&reason)),
                ContainerStatus::Published => {
                    Err(Error::new(ErrorKind::Ambiguous, "Threads has published this before."))
                }
                ContainerStatus::InProgress | ContainerStatus::Finished => {
                    state.container = Some(container);
                    Ok(Progress::continue_with(&state)?.after(POLL))
                }
            }
        }
        Err(error) => Err(error),
    }
}

#[async_trait]
impl Inbox for Threads {
    fn rules(&self) -> InboxRules {
        RULES
    }

    /// Does nothing: the app subscribes to all of its accounts at once, in its dashboard.
    async fn subscribe(&self, _session: &Session) -> Result<()> {
        Ok(())
    }

    async fn recent_posts(&self, session: &Session) -> Result<InboxPage<RemotePost>> {
        let path = format!("/v1.0/{}/threads", session.account.remote_id);
        let listed = list(session, &path, ("id,timestamp", None)).await?;
        Ok(graph::inbox::recent_posts::<Listed>(listed))
    }

    async fn comments(
        &self,
        session: &Session,
        post: &str,
        next: Option<String>,
    ) -> Result<InboxPage<RemoteComment>> {
        let path = format!("/v1.0/{post}/conversation");
        let listed = list(session, &path, (REPLY, next.as_deref())).await?;
        let (page, unread) = listed.into_known_page();
        let items = page.items.into_iter().map(|one| comment(one, post, &session.account));
        let unread = graph::ids_of(&unread);
        Ok(InboxPage { page: ListPage { items: items.collect(), next: page.next }, unread })
    }

    fn read_webhook(&self, body: &Value) -> Vec<InboundEvent> {
        let values = match &body["values"] {
            Value::Array(values) => values.iter().collect(),
            value => vec![value],
        };
        values.into_iter().filter_map(|value| read_reply(body, value)).collect()
    }
}

async fn list(
    session: &Session,
    path: &str,
    (fields, next): (&str, Option<&str>),
) -> Result<graph::List<Value>> {
    let query = graph::list_query(fields, "100", next);
    let request = session.http.get(session.url(SPEC.base_url, path)?).query(&query);
    graph::send(session, request, parse_error).await
}

fn comment(one: Reply, post: &str, account: &crate::Account) -> RemoteComment {
    let parent = one.replied_to.map(|to| to.id).filter(|to| to != post);
    let named = one.username.as_deref() == Some(account.username.as_str());
    RemoteComment {
        own: one.is_reply_owned_by_me.unwrap_or(false) || named,
        author: Person {
            id: if named { account.remote_id.clone() } else { String::new() },
            username: one.username,
            ..Person::default()
        },
        post: post.to_owned(),
        parent,
        text: one.text,
        attachments: Vec::new(),
        like_count: None,
        reply_count: None,
        hidden: one.hide_status.map(|status| !matches!(status.as_str(), "NOT_HUSHED" | "UNHUSHED")),
        url: one.permalink,
        at: one.timestamp,
        id: one.id,
    }
}

fn read_reply(body: &Value, value: &Value) -> Option<InboundEvent> {
    if value["field"] != "replies" {
        return None;
    }
    let reply = &value["value"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let root = &reply["root_post"];
    let account = text(&root["owner_id"]).or_else(|| text(&body["target_id"]))?;
    let (id, post) = (text(&reply["id"])?, text(&root["id"])?);
    let at = DateTime::parse_from_str(reply["timestamp"].as_str()?, "%Y-%m-%dT%H:%M:%S%z")
        .or_else(|_| DateTime::parse_from_rfc3339(reply["timestamp"].as_str().unwrap_or_default()))
        .ok()?
        .to_utc();
    let username = text(&reply["username"]);
    let own = username.is_some() && username == text(&root["username"]);
    let item = InboundItem::Comment(RemoteComment {
        id: id.clone(),
        parent: text(&reply["replied_to"]["id"]).filter(|parent| *parent != post),
        post,
        own,
        author: Person {
            id: if own { account.clone() } else { String::new() },
            username,
            ..Person::default()
        },
        text: text(&reply["text"]).unwrap_or_default(),
        attachments: Vec::new(),
        like_count: None,
        reply_count: None,
        hidden: None,
        url: text(&reply["permalink"]),
        at,
    });
    Some(InboundEvent {
        account,
        field: "replies".to_owned(),
        id,
        verb: "add".to_owned(),
        at,
        item,
    })
}
