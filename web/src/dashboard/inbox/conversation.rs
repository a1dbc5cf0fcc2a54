//! `/dashboard/inbox/conversations/{id}`: a conversation, how long it can still be answered, and the answer.

use fanfare_conversations::inbox::{
    Conversation, ConversationWithMessages, InboxAction, Message, MessageDirection,
};
use fanfare_core::{Code, Error, Result, access::Role};
use maud::{Markup, html};
use serde_json::json;

use super::{
    reply::{ThreadKind, done_message, followed, send_again_field},
    view::{content, is_open, outcome, participant},
};
use crate::{
    admin::parts::duration,
    dashboard::{choices::AccountChoices, operation, page_member::PageMember, parts},
    oauth_connect::{PageResponse, Visit},
};

/// Shows a conversation.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    Ok(PageResponse::Wide(ThreadKind::Conversation.title(), page(&visit, None).await?))
}

/// Shows the page, with the error of an answer.
pub async fn page(visit: &Visit, wrong: Option<&Error>) -> Result<Markup> {
    let mut asked = json!({"id": visit.path("id"), "limit": 50});
    if let Some(cursor) = visit.query("cursor") {
        asked["cursor"] = cursor.into();
    }
    let shown: ConversationWithMessages = operation::read(visit, "get_conversation", asked).await?;
    let seat = PageMember::of(visit).await?;
    let accounts = AccountChoices::of(visit, &seat).await?;
    let one = &shown.conversation;
    Ok(html! {
        p { a href="/dashboard/inbox" { "← All conversations" } }
        h1 { (parts::one_line(participant(&one.participant), 80)) }
        p.soft { "With " (accounts.name(one.account_id)) }
        (parts::success_note(done_message(visit)))
        (parts::form_error(wrong))
        (parts::next(&ThreadKind::Conversation.address(visit), shown.next_cursor.as_deref()))
        (followed(ThreadKind::Conversation, visit, &html! {
            ol.talk aria-label="Messages, oldest first" {
                @for message in shown.messages.iter().rev() { (bubble(visit, message, one)) }
            }
        }, shown.messages.iter().any(|message| is_open(Some(message.status)))))
        (window(visit, one, seat.may(Role::Editor)))
        @if one.can.contains(&InboxAction::Reply) { (form(visit, wrong)) }
    })
}

fn bubble(visit: &Visit, message: &Message, one: &Conversation) -> Markup {
    let is_ours = message.direction == MessageDirection::Out;
    html! {
        li class=(if is_ours { "out" } else { "in" }) {
            p.soft {
                @if is_ours { "You" } @else { (parts::one_line(participant(&one.participant), 60)) }
                " · " (parts::minute(visit, message.created_at))
            }
            (content(&message.text, &message.attachments, message.deleted))
            (outcome(Some(message.status), message.error.as_ref()))
        }
    }
}

/// Renders how long the conversation can still be answered, or why it cannot.
fn window(visit: &Visit, one: &Conversation, is_editor: bool) -> Markup {
    let until = one.reply_until;
    let left = until.map(|until| until.0 - visit.cx.clock.now());
    html! {
        @match (left, until) {
            (Some(left), Some(until)) if left > 0 && one.can.contains(&InboxAction::Reply) => {
                p.flash.plain { "You can reply for another " strong { (duration(left)) } ", until " (parts::minute(visit, until)) "." }
            }
            (Some(left), _) if left > 0 && !is_editor => {
                p.flash.plain { "Replies need the role editor in this workspace." }
            }
            (Some(left), _) if left > 0 => {
                p.flash.warn { "You cannot reply now: the account has to be " a href="/dashboard/accounts" { "connected again" } "." }
            }
            (Some(_), Some(until)) => {
                p.flash.warn { "The time to reply ended on " (parts::minute(visit, until)) ". The person has to write again first." }
            }
            _ => { p.flash.warn { "You can reply once the person has written to you." } }
        }
    }
}

fn form(visit: &Visit, wrong: Option<&Error>) -> Markup {
    let risky = wrong.is_some_and(|error| error.code() == Code::DuplicateRisk);
    html! {
        form.narrow.reply method="post" action=(ThreadKind::Conversation.address(visit)) {
            (parts::csrf_field(visit))
            (parts::once_field())
            div.field {
                label for="text" { "Your reply" }
                textarea #text name="text" rows="4" required { "\n" (visit.form("text").unwrap_or_default()) }
            }
            @if risky { (send_again_field()) }
            button type="submit" { "Send the reply" }
        }
    }
}
