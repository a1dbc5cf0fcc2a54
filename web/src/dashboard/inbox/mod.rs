//! `/dashboard/inbox`: what people write to the accounts of a workspace, and answers to it.

pub mod comment;
pub mod conversation;
pub mod reply;
mod view;

use fanfare_conversations::inbox::{
    Comment, CommentPage, Conversation, ConversationPage, MessageDirection,
};
use fanfare_core::{Code, Error, Result, access::Role};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::{choices::AccountChoices, operation, page_member::PageMember, parts};
use crate::oauth_connect::{PageResponse, Visit};
use view::{author, participant};

const TITLE: &str = "Inbox";
const PAGE: &str = "/dashboard/inbox";

/// The networks that have an inbox.
const NETWORKS: [&str; 3] = ["facebook", "instagram", "threads"];

/// The two lists of the page.
enum Items {
    Conversations(ConversationPage),
    Comments(CommentPage),
}

/// Shows conversations or comments, the latest first.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    let accounts = AccountChoices::of(&visit, &seat).await?.on(&NETWORKS);
    let main = match items(&visit, &seat).await {
        Ok(items) => list(&visit, &seat, &accounts, &items),
        Err(error) if error.code() == Code::FeatureNotAvailable => html! {
            (seat.head(&visit, TITLE, &html! {}))
            (parts::not_included(&error))
        },
        Err(error) => return Err(error),
    };
    Ok(PageResponse::Wide(TITLE, main))
}

/// Requests a sync with the networks.
pub async fn sync(visit: Visit) -> Result<PageResponse> {
    let here = PageMember::of(&visit).await?.act.membership.workspace_id;
    operation::run(&visit, "sync_inbox", json!({"workspace_id": here}))
        .await
        .or_else(ignore_no_inbox)?;
    Ok(PageResponse::Redirect(format!("{PAGE}?done=sync")))
}

/// Ignores the error that no account of the workspace has an inbox.
fn ignore_no_inbox(error: Error) -> Result<Value> {
    if error.code() == Code::AccountNotFound { Ok(Value::Null) } else { Err(error) }
}

async fn items(visit: &Visit, seat: &PageMember) -> Result<Items> {
    let mut asked = json!({"workspace_id": seat.act.membership.workspace_id});
    for name in ["account_id", "cursor", "unanswered"] {
        if let Some(value) = visit.query(name) {
            asked[name] = value.into();
        }
    }
    Ok(if shows_comments(visit) {
        Items::Comments(operation::read(visit, "list_comments", asked).await?)
    } else {
        Items::Conversations(operation::read(visit, "list_conversations", asked).await?)
    })
}

fn shows_comments(visit: &Visit) -> bool {
    visit.query("view") == Some("comments")
}

fn list(visit: &Visit, seat: &PageMember, accounts: &AccountChoices, items: &Items) -> Markup {
    let (cursor, is_empty) = match items {
        Items::Conversations(page) => (&page.next_cursor, page.conversations.is_empty()),
        Items::Comments(page) => (&page.next_cursor, page.comments.is_empty()),
    };
    let again = html! {
        @if seat.may(Role::Editor) {
            form method="post" action={ (PAGE) "/sync" } {
                (parts::csrf_field(visit))
                button type="submit" { "Read now" }
            }
        }
    };
    let done = visit
        .query("done")
        .map(|_| "The networks are being read. New items appear here in a moment.");
    html! {
        (seat.head(visit, TITLE, &again))
        (parts::success_note(done))
        (tabs(visit))
        (filter(visit, accounts))
        @if is_empty { (empty_list(accounts)) } @else {
            ul.rows {
                @match items {
                    Items::Conversations(page) => {
                        @for one in &page.conversations { (conversation_row(visit, one, accounts)) }
                    }
                    Items::Comments(page) => {
                        @for one in &page.comments { (comment_row(visit, one, accounts)) }
                    }
                }
            }
        }
        (parts::next(&here(visit), cursor.as_deref()))
    }
}

/// Returns the address of this list without its cursor.
fn here(visit: &Visit) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for name in ["view", "account_id", "unanswered"] {
        if let Some(value) = visit.query(name) {
            query.append_pair(name, value);
        }
    }
    format!("{PAGE}?{}", query.finish()).trim_end_matches('?').to_owned()
}

fn tabs(visit: &Visit) -> Markup {
    let comments = shows_comments(visit);
    html! {
        nav.tabs aria-label="Kinds of items" {
            a href=(PAGE) aria-current=[(!comments).then_some("page")] { "Conversations" }
            a href={ (PAGE) "?view=comments" } aria-current=[comments.then_some("page")] { "Comments" }
        }
    }
}

fn filter(visit: &Visit, accounts: &AccountChoices) -> Markup {
    let unanswered = visit.query("unanswered");
    html! {
        form.filter method="get" action=(PAGE) {
            @if shows_comments(visit) { input type="hidden" name="view" value="comments"; }
            (accounts.field(visit.query("account_id")))
            div.field {
                label for="unanswered" { "Show" }
                select #unanswered name="unanswered" {
                    option value="" { "Everything" }
                    option value="true" selected[unanswered == Some("true")] { "Waiting for an answer" }
                    option value="false" selected[unanswered == Some("false")] { "Answered" }
                }
            }
            button type="submit" { "Filter" }
        }
    }
}

fn empty_list(accounts: &AccountChoices) -> Markup {
    html! {
        p.empty {
            @if accounts.accounts.is_empty() {
                "Messages and comments of Facebook, Instagram and Threads appear here. "
                a href="/connect" { "Connect an account" } " of one of them first."
            } @else { "Nothing here yet. New messages and comments appear by themselves." }
        }
    }
}

fn conversation_row(visit: &Visit, one: &Conversation, accounts: &AccountChoices) -> Markup {
    let last = &one.last_message;
    html! {
        li {
            div {
                a href={ (PAGE) "/conversations/" (one.id) } { strong { (parts::one_line(participant(&one.participant), 60)) } }
                span { @if last.direction == MessageDirection::Out { span.soft { "You: " } } (parts::one_line(&last.text, 140)) }
                span.soft { (accounts.name(one.account_id)) }
            }
            div.side {
                @if one.unanswered { span.badge.warn { "waiting" } }
                span.soft { (parts::minute(visit, one.updated_at)) }
            }
        }
    }
}

fn comment_row(visit: &Visit, one: &Comment, accounts: &AccountChoices) -> Markup {
    html! {
        li {
            div {
                a href={ (PAGE) "/comments/" (one.id) } { strong { (parts::one_line(author(&one.author), 60)) } }
                span { (parts::one_line(&one.text, 140)) }
                span.soft { (accounts.name(one.account_id)) }
            }
            div.side {
                @if one.hidden { span.badge { "hidden" } }
                @if one.deleted { span.badge.bad { "deleted" } }
                @if one.unanswered { span.badge.warn { "waiting" } }
                span.soft { (parts::minute(visit, one.created_at)) }
            }
        }
    }
}
