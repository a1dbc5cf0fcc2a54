//! The API's replies about the inbox, as far as the pages use them.

use maud::{Markup, html};
use serde::Deserialize;

use crate::dashboard::parts;

/// A page of conversations.
#[derive(Deserialize)]
pub struct ConversationPage {
    pub conversations: Vec<Conversation>,
    pub next_cursor: Option<String>,
}

/// A conversation with one person.
#[derive(Deserialize)]
pub struct Conversation {
    pub id: i64,
    pub account_id: i64,
    pub can: Vec<String>,
    pub reply_until: Option<String>,
    pub participant: Person,
    pub last_message: LastMessage,
    pub unanswered: bool,
    pub updated_at: String,
}

/// The latest message of a conversation.
#[derive(Deserialize)]
pub struct LastMessage {
    pub text: String,
    pub direction: String,
}

/// The author of an item.
#[derive(Deserialize)]
pub struct Person {
    pub id: Option<String>,
    pub username: Option<String>,
    pub name: Option<String>,
    #[serde(default)]
    pub is_owner: bool,
}

/// A conversation with a part of its messages.
#[derive(Deserialize)]
pub struct Messages {
    pub conversation: Conversation,
    pub messages: Vec<Message>,
    pub next_cursor: Option<String>,
}

/// A message.
#[derive(Deserialize)]
pub struct Message {
    pub direction: String,
    pub text: String,
    pub attachments: Vec<Attachment>,
    pub status: String,
    pub error: Option<ItemError>,
    pub deleted: bool,
    pub created_at: String,
}

/// A file of an item.
#[derive(Deserialize)]
pub struct Attachment {
    r#type: String,
    url: Option<String>,
    reason: Option<String>,
}

/// The reason an answer failed.
#[derive(Deserialize)]
pub struct ItemError {
    message: String,
    remedy: Option<String>,
}

/// A page of comments.
#[derive(Deserialize)]
pub struct CommentPage {
    pub comments: Vec<Comment>,
    pub next_cursor: Option<String>,
}

/// A comment with the replies to it.
#[derive(Deserialize)]
pub struct Thread {
    pub comment: Comment,
    pub replies: Vec<Comment>,
}

/// A comment on a post.
#[derive(Deserialize)]
pub struct Comment {
    pub id: i64,
    pub account_id: i64,
    pub can: Vec<String>,
    pub post_id: Option<i64>,
    pub author: Person,
    pub text: String,
    pub attachments: Vec<Attachment>,
    pub like_count: Option<i64>,
    pub hidden: bool,
    pub deleted: bool,
    pub unanswered: bool,
    pub url: Option<String>,
    pub private_reply_until: Option<String>,
    pub status: Option<String>,
    pub error: Option<ItemError>,
    pub created_at: String,
}

impl Person {
    /// Returns the best available name.
    pub fn display_name(&self) -> String {
        let named = [&self.name, &self.username, &self.id].into_iter().flatten();
        let mut named = named.filter(|name| !name.trim().is_empty());
        named.next().cloned().unwrap_or_else(|| "Somebody".to_owned())
    }
}

/// Renders the text of an item and its files.
pub fn content(text: &str, files: &[Attachment], is_deleted: bool) -> Markup {
    html! {
        @if is_deleted { p.soft { "This was deleted." } }
        @if !text.is_empty() { p.said { (parts::lines(text)) } }
        @for file in files {
            @match (&file.url, file.r#type.as_str()) {
                (Some(url), "image") => { a href=(url) rel="noreferrer" { img.attached src=(url) alt="Attached image" loading="lazy"; } }
                (Some(url), kind) => { p { a href=(url) rel="noreferrer" { "Attached " (kind) } } }
                (None, kind) => {
                    p.soft { "An attached " (parts::one_line(kind, 20)) " was not copied" @if let Some(reason) = &file.reason { ": " (parts::one_line(reason, 80)) } "." }
                }
            }
        }
    }
}

/// Returns true for an item of ours whose outcome is not known yet.
pub fn is_open(status: Option<&str>) -> bool {
    matches!(status, Some("unknown" | "sending"))
}

/// Renders the status of an answer of ours, unless it was simply sent.
pub fn outcome(status: Option<&str>, error: Option<&ItemError>) -> Markup {
    html! {
        @match status {
            Some("sending") => { span.badge.busy { "sending" } }
            Some("failed") => { span.badge.bad { "not sent" } }
            Some("unknown") => { span.badge.warn title="The network did not answer. This is settled within two minutes." { "outcome unknown" } }
            _ => {}
        }
        @if let Some(error) = error {
            p.late { (error.message) @if let Some(remedy) = &error.remedy { " " (remedy) } }
        }
    }
}
