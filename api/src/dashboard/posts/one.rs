//! `/dashboard/posts/{id}`: everything about one post.

use fanfare_domain::{
    Code, Error, PostId, Result,
    access::Role,
    accounts,
    input::CursorQuery,
    posts::{self, allowed_transitions, status_name},
    zone,
};
use fanfare_entities::{account, post, post::PostStatus};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::{PAGE, calendar::is_movable, on};
use crate::{
    dashboard::{
        page_member::PageMember,
        parts::{self, badge, local_time, one_line},
    },
    oauth_connect::{PageResponse, Visit},
};

const TITLE: &str = "Post";

/// The most characters of a text that are shown.
const SHOWN: usize = 10_000;

/// The parts of the page besides the post itself.
struct PostDetails {
    account: Option<account::Model>,
    media: Vec<posts::PostMedia>,
    attempts: Vec<Attempt>,
    missing: Vec<MissingPart>,
}

#[derive(Deserialize)]
struct Attempts {
    attempts: Vec<Attempt>,
}

/// An attempt to publish a post.
#[derive(Deserialize)]
struct Attempt {
    number: i64,
    started_at: String,
    outcome: Option<String>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Missing {
    missing: Vec<MissingPart>,
}

/// A missing part of the post.
#[derive(Deserialize)]
struct MissingPart {
    message: String,
    remedy: String,
}

/// Returns the post in the path.
///
/// # Errors
/// [`Code::PostNotFound`] if it is not a number.
pub fn id(visit: &Visit) -> Result<PostId> {
    let absent = || Error::new(Code::PostNotFound, "There is no such post.");
    visit.path("id").parse().map(PostId).map_err(|_| absent())
}

/// Shows the post.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    Ok(PageResponse::Wide(TITLE, page(&visit, None).await?))
}

/// Shows the post with the error of a form.
pub async fn wrong(visit: &Visit, error: Error) -> Result<PageResponse> {
    let main = page(visit, Some(&error)).await?;
    Ok(PageResponse::WideInvalid(TITLE, main, error))
}

async fn page(visit: &Visit, wrong: Option<&Error>) -> Result<Markup> {
    let id = id(visit)?;
    let seat = PageMember::of_post(visit, id).await?;
    let row = posts::find(&seat.act, id).await?;
    let more = more(&seat, &row).await?;
    let may = seat.may(Role::Publisher);
    let network = on(more.account.as_ref(), &row.platform);
    Ok(html! {
        p { a href=(PAGE) { "All posts" } }
        div.head {
            h1 { "Post " (row.id) " " (badge(status_name(row.status))) }
        }
        p.soft { (network) }
        (refusal(wrong))
        (error_section(&row))
        div.columns {
            section {
                h2 { "Content" }
                (content(&row, &more.media))
                @if seat.may(Role::Editor) && is_movable(&row) { (edit_form(visit, &row)) }
            }
            section {
                h2 { "Details" }
                (facts(&row, seat.zone()))
                (lacks(&more.missing))
                @if may { (steps(visit, &seat, &row)) }
            }
        }
        (attempts(&more.attempts))
    })
}

async fn more(seat: &PageMember, row: &post::Model) -> Result<PostDetails> {
    let known = accounts::all(&seat.act).await?;
    let attempts = posts::attempts(&seat.act, row.id, CursorQuery::default()).await?;
    let attempts: Attempts = serde_json::from_str(attempts.body()).map_err(Error::internal)?;
    let missing = if is_movable(row) {
        let missing = posts::missing(&seat.act, row.id).await?;
        serde_json::from_str::<Missing>(missing.body()).map_err(Error::internal)?.missing
    } else {
        Vec::new()
    };
    Ok(PostDetails {
        account: known.into_iter().find(|account| account.id == row.account_id),
        media: posts::media_of(row).unwrap_or_default(),
        attempts: attempts.attempts,
        missing,
    })
}

/// Renders the error of a form, also one without a field.
fn refusal(wrong: Option<&Error>) -> Markup {
    html! {
        (parts::form_error(wrong))
        @if let Some(error) = wrong.filter(|error| error.code() == Code::DuplicateRisk) {
            p { (error.code().entry().remedy) }
        }
    }
}

fn error_section(row: &post::Model) -> Markup {
    let said = |field: &str| row.error.as_ref().and_then(|error| error[field].as_str());
    html! {
        @if let Some(message) = said("message") {
            div.flash.bad role="alert" {
                p { strong { @if row.status == PostStatus::Failed { "It was not published. " } @else { "The last attempt failed. " } } (one_line(message, 600)) }
                @if let Some(remedy) = said("remedy") { p { (one_line(remedy, 600)) } }
                @if let Some(code) = said("code") { p.soft { code { (code) } } }
            }
        }
    }
}

fn content(row: &post::Model, media: &[posts::PostMedia]) -> Markup {
    let length = row.caption.chars().count();
    let shown: String = row.caption.chars().take(SHOWN).collect();
    html! {
        @if row.caption.is_empty() { p.empty { "It has no text." } } @else { div.card.words { (shown) } }
        @if length > SHOWN { p.soft { "These are the first " (SHOWN) " of " (length) " characters." } }
        @if !media.is_empty() {
            ul.media { @for file in media { li { (shown_file(file)) } } }
        }
    }
}

/// Renders a file: a picture if it is stored here, else its name.
fn shown_file(file: &posts::PostMedia) -> Markup {
    let is_stored = file.asset_id.is_some();
    html! {
        @if is_stored && file.mime.starts_with("image/") {
            img src=(file.url) alt=(one_line(&file.filename, 80)) loading="lazy";
        } @else if is_stored && file.mime.starts_with("video/") {
            video src=(file.url) controls preload="metadata" aria-label=(one_line(&file.filename, 80)) {}
        }
        span.soft { (one_line(&file.filename, 60)) }
        @if let Some(flaw) = file.flaw.as_ref().and_then(|flaw| flaw["message"].as_str()) {
            span.badge.bad { (one_line(flaw, 200)) }
        }
    }
}

fn edit_form(visit: &Visit, row: &post::Model) -> Markup {
    html! {
        details.confirm {
            summary { "Change the text" }
            form.narrow.broad method="post" action={ (PAGE) "/" (row.id) "/text" } {
                (parts::csrf_field(visit))
                div.field {
                    label for="caption" { "Text" }
                    textarea #caption name="caption" rows="8" { "\n" (row.caption) }
                }
                button type="submit" { "Save the text" }
            }
        }
    }
}

fn facts(row: &post::Model, zone: &str) -> Markup {
    let url = row.platform_post_url.as_deref().filter(|url| is_web(url));
    html! {
        dl.facts {
            dt { "Type" } dd { (row.post_type.replace('_', " ")) }
            @if let Some(at) = row.scheduled_at { dt { "Time" } dd { (local_time(at, zone)) } }
            @if let Some(at) = row.public_at.filter(|_| row.status == PostStatus::Published) {
                dt { "Published" } dd { (local_time(at, zone)) }
            }
            @if let Some(at) = row.next_attempt_at { dt { "Next attempt" } dd { (local_time(at, zone)) } }
            @if let Some(url) = url {
                dt { "Public at" } dd { a href=(url) rel="noreferrer nofollow" { (one_line(url, 120)) } }
            }
            @if let Some(group) = &row.group_key { dt { "Group" } dd { (one_line(group, 80)) } }
            dt { "Attempts" } dd { (row.attempt) }
            dt { "Created" } dd { (local_time(row.created_at, zone)) }
            dt { "Times" } dd { "those of " (zone) }
        }
    }
}

fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

fn lacks(missing: &[MissingPart]) -> Markup {
    html! {
        @if !missing.is_empty() {
            div.flash.warn {
                p { strong { "Before it can be published" } }
                @for lack in missing.iter().take(20) { p { (one_line(&lack.message, 300)) " " (one_line(&lack.remedy, 300)) } }
            }
        }
    }
}

/// Renders the actions that the post's status allows.
fn steps(visit: &Visit, seat: &PageMember, row: &post::Model) -> Markup {
    let can =
        |status: &str| allowed_transitions(row.status).contains(&status) && !row.partly_public;
    let at = |verb: &str| format!("{PAGE}/{}/{verb}", row.id);
    let is_open = matches!(row.status, PostStatus::Draft | PostStatus::Scheduled);
    html! {
        @if is_movable(row) && row.status != PostStatus::Draft { (timed(visit, seat, row, "move", "Move it")) }
        @if row.status == PostStatus::Draft { (timed(visit, seat, row, "schedule", "Schedule it")) }
        div.row {
            @if can("paused") { (plain(visit, &at("pause"), "Pause")) }
            @if row.status == PostStatus::Paused { (plain(visit, &at("schedule"), "Resume")) }
            @if can("draft") { (plain(visit, &at("draft"), "Make it a draft")) }
            @if row.status == PostStatus::Failed { (retry(visit, row, &at("retry"))) }
            @if is_open && !row.partly_public {
                (parts::confirmed_action(visit, "Delete", &at("delete"),
                    "The post is deleted for good. Nothing of it is published.", "Delete this post", &html! {}))
            }
        }
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
            button type="submit" { (button) }
        }
    }
}

fn retry(visit: &Visit, row: &post::Model, action: &str) -> Markup {
    if !row.duplicate_risk {
        return plain(visit, action, "Publish it again now");
    }
    let fields = html! {
        div.tick {
            input #risk type="checkbox" name="acknowledge_duplicate_risk" value="1" required;
            label.beside for="risk" { "I have looked, and it is not public" }
        }
    };
    parts::confirmed_action(
        visit,
        "Publish it again",
        action,
        "An earlier attempt had no answer, so the post may be public already. Look at the account first.",
        "Publish it again now",
        &fields,
    )
}

fn attempts(attempts: &[Attempt]) -> Markup {
    let outcome = |attempt: &Attempt| attempt.outcome.clone().unwrap_or_else(|| "running".into());
    let said = |attempt: &Attempt| {
        let message = attempt.error.as_ref().and_then(|error| error["message"].as_str());
        one_line(message.unwrap_or_default(), 300)
    };
    html! {
        section {
            h2 { "Attempts" }
            @if attempts.is_empty() {
                p.empty { "It was not tried yet." }
            } @else {
                table {
                    caption { "Attempts to publish it, latest first" }
                    thead { tr { th scope="col" { "Attempt" } th scope="col" { "Started" } th scope="col" { "Result" } th scope="col" { "Message" } } }
                    tbody {
                        @for attempt in attempts.iter().rev().take(50) {
                            tr {
                                td data-label="Attempt" { div { (attempt.number) } }
                                td data-label="Started" { div { time datetime=(attempt.started_at) { (attempt.started_at.replace('T', " ").chars().take(19).collect::<String>()) " UTC" } } }
                                td data-label="Result" { div { (badge(&outcome(attempt))) } }
                                td data-label="Message" { div { (said(attempt)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {

    #[test]
    fn only_web_addresses_become_links() {
        assert!(super::is_web("https://example.com/1") && !super::is_web("javascript:alert(1)"));
    }
}
