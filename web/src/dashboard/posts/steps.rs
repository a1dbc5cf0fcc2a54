//! The actions that the status of a post and the role of its user allow.

use fanfare_core::{access::Role, zone};
use fanfare_entities::{post, post::PostStatus};
use fanfare_publishing::posts::{allowed_transitions, is_own_draft};
use maud::{Markup, html};

use super::{PAGE, calendar::is_movable};
use crate::{
    dashboard::{
        page_member::PageMember,
        parts::{self, one_line},
    },
    oauth_connect::Visit,
};

/// Renders the actions.
pub fn steps(visit: &Visit, seat: &PageMember, row: &post::Model) -> Markup {
    let at = |verb: &str| format!("{PAGE}/{}/{verb}", row.id);
    let is_publisher = seat.may(Role::Publisher);
    let can_go =
        matches!(row.status, PostStatus::Draft | PostStatus::Scheduled | PostStatus::Failed);
    let what = if row.duplicate_risk {
        "The post is deleted here for good. If it is public on the network, it stays there."
    } else {
        "The post is deleted for good. Nothing of it is published."
    };
    let may_delete = is_publisher || (seat.may(Role::Editor) && is_own_draft(&seat.act, row));
    html! {
        @if is_publisher { (timed_steps(visit, seat, row)) }
        div.row {
            @if is_publisher { (plain_steps(visit, row)) }
            @if may_delete && can_go && !row.partly_public {
                (parts::confirmed_action(visit, "Delete", &at("delete"), what, "Delete this post", &html! {}))
            }
        }
    }
}

fn timed_steps(visit: &Visit, seat: &PageMember, row: &post::Model) -> Markup {
    html! {
        @if is_movable(row) && row.status != PostStatus::Draft { (timed(visit, seat, row, "move", "Move it")) }
        @if row.status == PostStatus::Draft { (timed(visit, seat, row, "schedule", "Schedule it")) }
    }
}

fn plain_steps(visit: &Visit, row: &post::Model) -> Markup {
    let can =
        |status: &str| allowed_transitions(row.status).contains(&status) && !row.partly_public;
    let at = |verb: &str| format!("{PAGE}/{}/{verb}", row.id);
    html! {
        @if can("paused") { (plain(visit, &at("pause"), "Pause")) }
        @if row.status == PostStatus::Paused { (again(visit, row, &at("schedule"), "Resume")) }
        @if can("draft") { (plain(visit, &at("draft"), "Make it a draft")) }
        @if row.status == PostStatus::Failed { (again(visit, row, &at("retry"), "Publish it again now")) }
    }
}

fn plain(visit: &Visit, action: &str, button: &str) -> Markup {
    html! { form method="post" action=(action) { (parts::csrf_field(visit)) button type="submit" { (button) } } }
}

fn timed(visit: &Visit, seat: &PageMember, row: &post::Model, verb: &str, button: &str) -> Markup {
    let at = row.scheduled_at.map(|at| zone::local(at, seat.zone()).format("%Y-%m-%dT%H:%M"));
    let at = visit.form("scheduled_at").map(|at| one_line(at, 30)).or(at.map(|at| at.to_string()));
    html! {
        form.inline method="post" action={ (PAGE) "/" (row.id) "/" (verb) } {
            (parts::csrf_field(visit))
            label for="scheduled_at" { "Time in " (seat.zone()) }
            input.wide #scheduled_at type="datetime-local" name="scheduled_at" value=[at] required;
            @if verb == "schedule" && row.duplicate_risk { (looked()) }
            button type="submit" { (button) }
        }
    }
}

/// Renders an action that may publish what is public already: then it asks first.
fn again(visit: &Visit, row: &post::Model, action: &str, button: &str) -> Markup {
    if !row.duplicate_risk {
        return plain(visit, action, button);
    }
    parts::confirmed_action(
        visit,
        button,
        action,
        "An earlier attempt had no answer, so the post may be public already. Look at the account first.",
        button,
        &looked(),
    )
}

fn looked() -> Markup {
    html! {
        div.tick {
            input #risk type="checkbox" name="acknowledge_duplicate_risk" value="1" required;
            label.beside for="risk" { "I have looked, and it is not public" }
        }
    }
}
