//! Sends answers from the pages of the inbox, both for conversations and comments.

use fanfare_core::Result;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::{comment, conversation};
use crate::{
    dashboard::{operation, parts, posts::live},
    oauth_connect::{PageResponse, Visit},
};

/// The kind of thread that a page shows.
#[derive(Clone, Copy)]
pub enum ThreadKind {
    /// A conversation.
    Conversation,
    /// A comment.
    Comment,
}

impl ThreadKind {
    /// Returns the title of its page.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Conversation => "Conversation",
            Self::Comment => "Comment",
        }
    }

    /// Returns the address of its page.
    pub fn address(self, visit: &Visit) -> String {
        let folder = match self {
            Self::Conversation => "conversations",
            Self::Comment => "comments",
        };
        format!("/dashboard/inbox/{folder}/{}", visit.path("id"))
    }

    const fn operation(self) -> &'static str {
        match self {
            Self::Conversation => "reply_to_conversation",
            Self::Comment => "reply_to_comment",
        }
    }

    /// Redirects to the page after an action, or shows the page with its error.
    pub async fn respond(
        self,
        visit: &Visit,
        outcome: Result<&'static str>,
    ) -> Result<PageResponse> {
        let error = match outcome {
            Ok(done) => {
                return Ok(PageResponse::Redirect(format!("{}?done={done}", self.address(visit))));
            }
            Err(error) if parts::is_shown_beside(&error) => error,
            Err(error) => return Err(error),
        };
        let main = match self {
            Self::Conversation => conversation::page(visit, Some(&error)).await?,
            Self::Comment => comment::page(visit, Some(&error)).await?,
        };
        Ok(PageResponse::WideInvalid(self.title(), main, error))
    }

    async fn answer(self, visit: &Visit) -> Result<PageResponse> {
        let outcome = operation::run(visit, self.operation(), body(visit)).await;
        let outcome = outcome.map(|reply| {
            let made = reply.get("message").filter(|made| !made.is_null());
            done(&made.unwrap_or(&reply["comment"])["status"])
        });
        self.respond(visit, outcome).await
    }
}

/// Answers a conversation.
pub async fn to_conversation(visit: Visit) -> Result<PageResponse> {
    ThreadKind::Conversation.answer(&visit).await
}

/// Answers a comment, in public or with a direct message.
pub async fn to_comment(visit: Visit) -> Result<PageResponse> {
    ThreadKind::Comment.answer(&visit).await
}

/// Returns the body of the request that the form stands for.
fn body(visit: &Visit) -> Value {
    let mut body = json!({
        "id": visit.path("id"),
        "text": visit.form("text").unwrap_or_default(),
        "idempotency_key": parts::once_key(visit),
    });
    if visit.form("again").is_some() {
        body["acknowledge_duplicate_risk"] = true.into();
    }
    if visit.form("private").is_some() {
        body["private"] = true.into();
    }
    body
}

/// Returns the result of an answer as a name for the page's address.
fn done(status: &Value) -> &'static str {
    match status.as_str() {
        Some("failed") => "failed",
        Some("sent") => "sent",
        _ => "open",
    }
}

/// Returns the message about a completed action.
pub fn done_message(visit: &Visit) -> Option<&'static str> {
    match visit.query("done")? {
        "sent" => Some("The answer was sent."),
        "failed" => Some("The network refused the answer; the reason stands beside it."),
        "open" => Some(
            "The network has not confirmed the answer yet. Its outcome appears here within two minutes.",
        ),
        "hidden" => Some("The comment is hidden."),
        "shown" => Some("The comment is shown again."),
        "deleted" => Some("The comment is deleted."),
        _ => None,
    }
}

/// Renders a thread that keeps up while an answer is open. Without scripts there is a link, since loading the page again by
/// itself would take what a person is writing.
pub fn followed(kind: ThreadKind, visit: &Visit, talk: &Markup, is_open: bool) -> Markup {
    html! {
        (live(talk, is_open))
        @if is_open {
            noscript {
                p { "An answer is under way. " a href=(kind.address(visit)) { "Load the page again" } " to see what became of it." }
            }
        }
    }
}

/// Renders the field that sends an answer although the same may have been sent already.
pub fn send_again_field() -> Markup {
    html! {
        div.tick {
            input #again type="checkbox" name="again" value="1";
            label.beside for="again" { "Send it although the same may have been sent a moment ago" }
        }
    }
}
