//! Messages to pages, and comments on their posts.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;

use super::{Facebook, LABEL, PAGE, error::parse_error};
use crate::{
    Attachment, Error, InboundEvent, InboundItem, Inbox, InboxPage, InboxRules, Person, Progress,
    RateLimit, ReconcileOutcome, RecoveryClass, RefusalReason, RemoteChange, RemoteChanges,
    RemoteComment, RemoteMessage, RemotePost, Result, Session,
    graph::{
        self,
        inbox::{GraphInbox, GraphUser},
    },
    recent_posts::ListPage,
};

const API: GraphInbox = GraphInbox {
    label: LABEL,
    parse: parse_error,
    platform: "messenger",
    replies: "comments",
    hide: "is_hidden",
};

const RULES: InboxRules = InboxRules {
    messages: true,
    message_max: (2_000, false),
    comment_max: 2_200,
    deletes: true,
    private_replies: false,
    hides_top_level_only: false,
    hidden_are_unlisted: false,
    permissions: &["pages_messaging", "pages_read_user_content"],
};

/// The webhooks that a page receives.
const FIELDS: &str = "feed,messages,message_echoes,message_edits,messaging_referrals";

const COMMENT: &str = "id,message,created_time,from,parent,is_hidden,like_count,comment_count,permalink_url,attachment";

/// A post in a list.
#[derive(Deserialize)]
struct Listed {
    id: String,
    #[serde(deserialize_with = "graph::time")]
    created_time: DateTime<Utc>,
}

impl From<Listed> for RemotePost {
    fn from(post: Listed) -> Self {
        Self { id: post.id, at: post.created_time }
    }
}

#[derive(Deserialize)]
struct Comment {
    id: String,
    #[serde(default)]
    message: String,
    #[serde(deserialize_with = "graph::time")]
    created_time: DateTime<Utc>,
    #[serde(default)]
    from: GraphUser,
    parent: Option<GraphUser>,
    is_hidden: Option<bool>,
    like_count: Option<i64>,
    comment_count: Option<i64>,
    permalink_url: Option<String>,
    attachment: Option<Value>,
}

#[async_trait]
impl RemoteChanges for Facebook {
    fn class(&self, change: &RemoteChange) -> RecoveryClass {
        GraphInbox::class(change)
    }

    /// Messages have limits far above what people write; what is public counts like posts.
    fn limits(&self, change: &RemoteChange) -> &'static [RateLimit] {
        match change {
            RemoteChange::Message { .. } | RemoteChange::PrivateReply { .. } => &[],
            _ => &[PAGE],
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
impl Inbox for Facebook {
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
        let path = format!("/{}/published_posts", session.account.remote_id);
        API.recent_posts::<Listed>(session, &path, "id,created_time").await
    }

    async fn comments(
        &self,
        session: &Session,
        post: &str,
        next: Option<String>,
    ) -> Result<InboxPage<RemoteComment>> {
        // In this order, replies are among the comments.
        let mut query = graph::list_query(COMMENT, "100", next.as_deref());
        query.push(("filter", "stream"));
        let path = format!("/{post}/comments");
        let listed: graph::List<Value> = graph::get(session, &path, &query, parse_error).await?;
        let (page, unread) = listed.into_known_page();
        let own = session.account.remote_id.as_str();
        let items = page.items.into_iter().map(|one| comment(one, post, own)).collect();
        let unread = graph::ids_of(&unread);
        Ok(InboxPage { page: ListPage { items, next: page.next }, unread })
    }

    fn read_webhook(&self, body: &Value) -> Vec<InboundEvent> {
        let entries = graph::inbox::entries(body, "page");
        entries.into_iter().flat_map(read_entry).collect()
    }
}

fn comment(one: Comment, post: &str, own: &str) -> RemoteComment {
    let author = Person::from(one.from);
    RemoteComment {
        own: author.id == own,
        author,
        post: post.to_owned(),
        parent: one.parent.map(|parent| parent.id),
        text: one.message,
        attachments: one.attachment.iter().map(file).collect(),
        like_count: one.like_count,
        reply_count: one.comment_count,
        hidden: one.is_hidden,
        url: one.permalink_url,
        at: one.created_time,
        id: one.id,
    }
}

fn file(attachment: &Value) -> Attachment {
    let kind = match attachment["type"].as_str().unwrap_or_default() {
        "photo" => "image",
        "video_inline" | "video" => "video",
        "sticker" => "sticker",
        "share" => "share",
        _ => "other",
    };
    let url = attachment["media"]["image"]["src"].as_str().or_else(|| attachment["url"].as_str());
    Attachment { kind: kind.to_owned(), url: url.map(str::to_owned) }
}

fn read_entry(entry: &Value) -> Vec<InboundEvent> {
    let Some(page) = entry["id"].as_str() else { return Vec::new() };
    let mut found = graph::inbox::read_messaging(page, entry);
    let changes = graph::inbox::changes(entry).into_iter();
    let feed = changes.filter(|(field, value)| *field == "feed" && value["item"] == "comment");
    found.extend(feed.filter_map(|(_, value)| read_comment(page, entry, value)));
    found
}

fn read_comment(page: &str, entry: &Value, value: &Value) -> Option<InboundEvent> {
    let id = value["comment_id"].as_str()?.to_owned();
    let post = value["post_id"].as_str().map(str::to_owned);
    let verb = value["verb"].as_str()?.to_owned();
    let seconds = value["created_time"].as_i64().or_else(|| entry["time"].as_i64())?;
    let at = DateTime::from_timestamp(seconds, 0)?;
    // A comment has only its creation time. Events have the entry's time: one that was removed may be added again.
    let happened = entry["time"].as_i64().and_then(|time| DateTime::from_timestamp(time, 0));
    let item = match verb.as_str() {
        "add" | "edited" => {
            let author = Person {
                id: value["from"]["id"].as_str().unwrap_or_default().to_owned(),
                name: value["from"]["name"].as_str().map(str::to_owned),
                ..Person::default()
            };
            let parent = value["parent_id"].as_str().map(str::to_owned);
            InboundItem::Comment(RemoteComment {
                id: id.clone(),
                parent: parent.filter(|parent| Some(parent) != post.as_ref()),
                post: post?,
                own: author.id == page,
                author,
                text: value["message"].as_str().unwrap_or_default().to_owned(),
                attachments: Vec::new(),
                like_count: None,
                reply_count: None,
                hidden: None,
                url: None,
                at,
            })
        }
        "remove" => InboundItem::CommentDeleted { id: id.clone(), post },
        "hide" | "unhide" => InboundItem::CommentHidden { id: id.clone(), hidden: verb == "hide" },
        _ => return None,
    };
    let at = happened.unwrap_or(at);
    Some(InboundEvent { account: page.to_owned(), field: "feed".to_owned(), id, verb, at, item })
}
