//! `/dashboard/inbox/comments/{id}`: a comment with its replies and actions.

use fanfare_conversations::inbox::{Comment, CommentWithReplies, InboxAction};
use fanfare_core::{Code, Error, Result};
use maud::{Markup, html};
use serde_json::json;

use super::{
    reply::{ThreadKind, done_message, followed, send_again_field},
    view::{author, content, is_open, outcome},
};
use crate::{
    dashboard::{choices::AccountChoices, operation, page_member::PageMember, parts},
    oauth_connect::{PageResponse, Visit},
};

/// Shows a comment.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    Ok(PageResponse::Wide(ThreadKind::Comment.title(), page(&visit, None).await?))
}

/// Hides it, shows it again or deletes it.
pub async fn act(visit: Visit) -> Result<PageResponse> {
    let id = visit.path("id");
    match visit.path("verb") {
        verb @ ("hide" | "unhide") => {
            let body = json!({"id": id, "hidden": verb == "hide"});
            let outcome = operation::run(&visit, "update_comment", body).await;
            let shown = |hidden| if hidden { "hidden" } else { "shown" };
            let settled = outcome.map(|reply| match reply["comment"]["hidden"].as_bool() {
                Some(hidden) if hidden == (verb == "hide") => shown(hidden),
                _ => "open",
            });
            ThreadKind::Comment.respond(&visit, settled).await
        }
        "delete" => {
            let outcome = operation::run(&visit, "delete_comment", json!({"id": id})).await;
            let settled = |deleted| if deleted { "deleted" } else { "open" };
            let outcome = outcome.map(|reply| settled(reply["deleted"] == true));
            ThreadKind::Comment.respond(&visit, outcome).await
        }
        _ => Err(Error::new(Code::NotFound, "There is no such step.")),
    }
}

/// Shows the page, with the error of an action.
pub async fn page(visit: &Visit, wrong: Option<&Error>) -> Result<Markup> {
    let asked = json!({"id": visit.path("id")});
    let thread: CommentWithReplies = operation::read(visit, "get_comment", asked).await?;
    let seat = PageMember::of(visit).await?;
    let accounts = AccountChoices::of(visit, &seat).await?;
    let one = &thread.comment;
    Ok(html! {
        p { a href="/dashboard/inbox?view=comments" { "← All comments" } }
        h1 { "Comment of " (parts::one_line(author(&one.author), 80)) }
        p.soft {
            "On " (accounts.name(one.account_id))
            @if let Some(post) = one.post_id { ", " a href={ "/dashboard/posts/" (post) } { "your post" } }
            @if let Some(url) = one.url.as_deref().filter(|url| url.starts_with("http")) {
                ", " a href=(url) rel="noreferrer" { "on the network" }
            }
        }
        (parts::success_note(done_message(visit)))
        (parts::form_error(wrong))
        (followed(ThreadKind::Comment, visit, &html! {
            ol.talk aria-label="The comment and its replies, oldest first" {
                (bubble(visit, one))
                @for reply in &thread.replies { (bubble(visit, reply)) }
            }
        }, thread.replies.iter().chain([one]).any(|item| is_open(item.status))))
        @if one.can.is_empty() && !one.deleted {
            p.flash.plain { "Your role or the network allows no action on this comment now." }
        }
        @if one.can.contains(&InboxAction::Reply) || one.can.contains(&InboxAction::PrivateReply) { (form(visit, one, wrong)) }
        (actions(visit, one))
    })
}

fn bubble(visit: &Visit, one: &Comment) -> Markup {
    html! {
        li class=(if one.author.is_owner { "out" } else { "in" }) {
            p.soft {
                @if one.author.is_owner { "You" } @else { (parts::one_line(author(&one.author), 60)) }
                " · " (parts::minute(visit, one.created_at))
                @if let Some(likes) = one.like_count { " · " (likes) @if likes == 1 { " like" } @else { " likes" } }
            }
            (content(&one.text, &one.attachments, one.deleted))
            @if one.hidden { span.badge { "hidden" } }
            (outcome(one.status, one.error.as_ref()))
        }
    }
}

fn form(visit: &Visit, one: &Comment, wrong: Option<&Error>) -> Markup {
    let risky = wrong.is_some_and(|error| error.code() == Code::DuplicateRisk);
    let (public, private) =
        (one.can.contains(&InboxAction::Reply), one.can.contains(&InboxAction::PrivateReply));
    html! {
        form.narrow.reply method="post" action=(ThreadKind::Comment.address(visit)) {
            (parts::csrf_field(visit))
            (parts::once_field())
            div.field {
                label for="text" { "Your reply" }
                textarea #text name="text" rows="3" required { "\n" (visit.form("text").unwrap_or_default()) }
            }
            @if private && public {
                div.tick {
                    input #private type="checkbox" name="private" value="1" checked[visit.form("private").is_some()];
                    label.beside for="private" {
                        "As a direct message, which a comment allows once"
                        @if let Some(until) = one.private_reply_until { ", until " (parts::minute(visit, until)) }
                    }
                }
            }
            @if private && !public { input type="hidden" name="private" value="1"; }
            @if risky { (send_again_field()) }
            button type="submit" { "Send the reply" }
        }
    }
}

fn actions(visit: &Visit, one: &Comment) -> Markup {
    let page = ThreadKind::Comment.address(visit);
    html! {
        div.row {
            @if one.can.contains(&InboxAction::Hide) {
                (parts::confirmed_action(visit, "Hide", &format!("{page}/hide"),
                    "Only its author and the author's friends see it from then on. You can show it again.", "Hide this comment", &html! {}))
            }
            @if one.can.contains(&InboxAction::Unhide) {
                (parts::confirmed_action(visit, "Show again", &format!("{page}/unhide"),
                    "Everybody who sees the post sees the comment again.", "Show this comment again", &html! {}))
            }
            @if one.can.contains(&InboxAction::Delete) {
                (parts::confirmed_action(visit, "Delete", &format!("{page}/delete"),
                    "The comment is deleted on the network. This cannot be undone.", "Delete this comment", &html! {}))
            }
        }
    }
}
