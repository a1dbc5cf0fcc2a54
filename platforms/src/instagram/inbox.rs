//! Direct messages to professional accounts, and comments on their posts.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;

use super::{Instagram, LABEL, client, error::parse_error};
use crate::{
    Error, InboundEvent, InboundItem, Inbox, InboxPage, InboxRules, LimitScope, Person, Progress,
    RateLimit, ReconcileOutcome, RecoveryClass, RefusalReason, RemoteChange, RemoteChanges,
    RemoteComment, RemoteMessage, RemotePost, Result, Session,
    graph::{
        self, List,
        inbox::{GraphInbox, GraphUser},
    },
    recent_posts::ListPage,
};

const API: GraphInbox = GraphInbox {
    label: LABEL,
    parse: parse_error,
    platform: "instagram",
    replies: "replies",
    hide: "hide",
};

const RULES: InboxRules = InboxRules {
    messages: true,
    message_max: (1_000, true),
    comment_max: 2_200,
    deletes: true,
    private_replies: true,
    hides_top_level_only: false,
    hidden_are_unlisted: true,
    permissions: &["instagram_manage_messages", "instagram_manage_comments"],
};

/// Private replies of an account in any hour, which do not count as posts
/// (<https://developers.facebook.com/docs/messenger-platform/overview/rate-limiting>).
const PRIVATE_REPLIES: &[RateLimit] =
    &[RateLimit::new(LimitScope::Account, 750, 3_600).for_post_types(&["private_reply"])];

/// The webhooks that the linked page receives; comments come with the app's own subscription.
const FIELDS: &str = "messages,message_echoes";

const COMMENT: &str = "id,text,timestamp,from,username,hidden,like_count,parent_id,replies{id,text,timestamp,from,username,hidden,like_count,parent_id}";

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
struct Comment {
    id: String,
    #[serde(default)]
    text: String,
    #[serde(deserialize_with = "graph::time")]
    timestamp: DateTime<Utc>,
    #[serde(default)]
    from: GraphUser,
    username: Option<String>,
    hidden: Option<bool>,
    like_count: Option<i64>,
    parent_id: Option<String>,
    replies: Option<List<Value>>,
}

#[derive(Deserialize)]
struct Hidden {
    #[serde(default)]
    hidden: bool,
}

#[async_trait]
impl RemoteChanges for Instagram {
    fn class(&self, change: &RemoteChange) -> RecoveryClass {
        GraphInbox::class(change)
    }

    fn limits(&self, change: &RemoteChange) -> &'static [RateLimit] {
        match change {
            RemoteChange::PrivateReply { .. } => PRIVATE_REPLIES,
            _ => &[],
        }
    }

    async fn apply_change(
        &self,
        session: &Session,
        change: &RemoteChange,
        _state: Option<Value>,
    ) -> Result<Progress> {
        API.apply_change(session, change).await
    }

    async fn find_result(
        &self,
        session: &Session,
        change: &RemoteChange,
        _state: Option<Value>,
        sent_at: DateTime<Utc>,
    ) -> Result<ReconcileOutcome> {
        API.find_result(session, change, sent_at).await
    }

    fn refusal_reason(&self, change: &RemoteChange, error: &Error) -> Option<RefusalReason> {
        graph::inbox::refusal_reason(change, error)
    }
}

#[async_trait]
impl Inbox for Instagram {
    fn rules(&self) -> InboxRules {
        RULES
    }

    async fn subscribe(&self, session: &Session) -> Result<()> {
        API.subscribe(session, FIELDS).await
    }

    async fn conversations(
        &self,
        session: &Session,
        next: Option<String>,
    ) -> Result<InboxPage<Vec<RemoteMessage>>> {
        API.conversations(session, None, next.as_deref()).await
    }

    async fn recent_posts(&self, session: &Session) -> Result<InboxPage<RemotePost>> {
        let path = format!("{}/media", client::account(session));
        API.recent_posts::<Listed>(session, &path, "id,timestamp").await
    }

    async fn comments(
        &self,
        session: &Session,
        post: &str,
        next: Option<String>,
    ) -> Result<InboxPage<RemoteComment>> {
        let query = graph::list_query(COMMENT, "50", next.as_deref());
        let path = format!("/{post}/comments");
        let listed: List<Value> = graph::get(session, &path, &query, parse_error).await?;
        let (page, unknown) = listed.into_known_page::<Comment>();
        let mut unread = graph::ids_of(&unknown);
        unread.extend(unknown.iter().flat_map(replies_of));
        let mut items = Vec::new();
        for mut one in page.items {
            let (id, below) = (one.id.clone(), one.replies.take().map(List::into_known_page));
            let (below, unknown) =
                below.unwrap_or_else(|| (ListPage::with_next(Vec::new(), None), Vec::new()));
            // Instagram gives no number of its own, and leaves an empty list out.
            let count = i64::try_from(below.items.len() + unknown.len()).ok();
            unread.extend(graph::ids_of(&unknown));
            let reply_count = count.filter(|_| below.next.is_none());
            let above = comment(one, post, None, &session.account);
            items.push(RemoteComment { reply_count, ..above });
            let reply = |one| comment(one, post, Some(&id), &session.account);
            items.extend(below.items.into_iter().map(reply));
        }
        Ok(InboxPage { page: ListPage { items, next: page.next }, unread })
    }

    async fn unlisted_comment(&self, session: &Session, comment: &str) -> Result<Option<bool>> {
        let (path, query) = (format!("/{comment}"), [("fields", "hidden")]);
        match graph::get::<Hidden>(session, &path, &query, parse_error).await {
            Ok(found) => Ok(Some(found.hidden)),
            Err(error) if graph::insights::is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn read_webhook(&self, body: &Value) -> Vec<InboundEvent> {
        let entries = graph::inbox::entries(body, "instagram");
        entries.into_iter().flat_map(read_entry).collect()
    }
}

/// Returns the ids of the replies below a comment that could not be read.
fn replies_of(comment: &Value) -> Vec<String> {
    graph::ids_of(comment["replies"]["data"].as_array().map_or(&[], Vec::as_slice))
}

fn comment(
    one: Comment,
    post: &str,
    parent: Option<&str>,
    account: &crate::Account,
) -> RemoteComment {
    let mut author = Person::from(one.from);
    author.username = author.username.or(one.username);
    let named = author.username.as_deref() == Some(account.username.as_str());
    RemoteComment {
        own: author.id == account.remote_id || (author.id.is_empty() && named),
        author,
        post: post.to_owned(),
        parent: one.parent_id.or_else(|| parent.map(str::to_owned)),
        text: one.text,
        attachments: Vec::new(),
        like_count: one.like_count,
        reply_count: None,
        hidden: one.hidden,
        url: None,
        at: one.timestamp,
        id: one.id,
    }
}

fn read_entry(entry: &Value) -> Vec<InboundEvent> {
    let Some(account) = entry["id"].as_str() else { return Vec::new() };
    let mut found = graph::inbox::read_messaging(account, entry);
    let changes = graph::inbox::changes(entry).into_iter();
    let comments = changes.filter(|(field, _)| matches!(*field, "comments" | "live_comments"));
    found.extend(comments.filter_map(|(_, value)| read_comment(account, entry, value)));
    found
}

fn read_comment(account: &str, entry: &Value, value: &Value) -> Option<InboundEvent> {
    let id = value["id"].as_str()?.to_owned();
    let time = entry["time"].as_i64()?;
    // Seconds, or milliseconds in some deliveries.
    let at = match time {
        ..=99_999_999_999 => DateTime::from_timestamp(time, 0)?,
        _ => DateTime::from_timestamp_millis(time)?,
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let from = &value["from"];
    let author_id = text(&from["id"]).unwrap_or_default();
    let own = author_id == account || from["self_ig_scoped_id"].is_string();
    let item = InboundItem::Comment(RemoteComment {
        id: id.clone(),
        post: text(&value["media"]["id"])?,
        parent: text(&value["parent_id"]),
        author: Person { id: author_id, username: text(&from["username"]), ..Person::default() },
        own,
        text: text(&value["text"]).unwrap_or_default(),
        attachments: Vec::new(),
        like_count: None,
        reply_count: None,
        hidden: None,
        url: None,
        at,
    });
    let (account, field) = (account.to_owned(), "comments".to_owned());
    Some(InboundEvent { account, field, id, verb: "add".to_owned(), at, item })
}
