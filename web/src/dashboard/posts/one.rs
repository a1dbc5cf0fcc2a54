//! `/dashboard/posts/{id}`: everything about one post.

use fanfare_core::{Code, Error, PostId, Result, access::Role, input::CursorQuery};
use fanfare_entities::{Millis, account, post, post::PostStatus};
use fanfare_publishing::{
    accounts,
    posts::{self, Attempt, MissingItem, WaitReason, Waiting, status_words},
};
use maud::{Markup, html};

use super::{PAGE, attempts, calendar::is_movable, on, steps::steps};
use crate::{
    dashboard::{
        page_member::PageMember,
        parts::{self, badge, local_time, one_line},
        sets::entry::address,
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
    missing: Vec<MissingItem>,
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
    let (main, is_under_way) = page(&visit, None).await?;
    Ok(PageResponse::following(TITLE, main, is_under_way))
}

/// Shows the post with the error of a form.
pub async fn wrong(visit: &Visit, error: Error) -> Result<PageResponse> {
    let (main, _) = page(visit, Some(&error)).await?;
    Ok(PageResponse::WideInvalid(TITLE, main, error))
}

/// Renders the page; also returns whether its content changes by itself soon.
async fn page(visit: &Visit, wrong: Option<&Error>) -> Result<(Markup, bool)> {
    let id = id(visit)?;
    let seat = PageMember::of_post(visit, id).await?;
    let row = posts::find(&seat.act, id).await?;
    let more = more(&seat, &row).await?;
    let waits = posts::waiting_of(&seat.act.cx, std::slice::from_ref(&row)).await?.remove(&row.id);
    let network = on(more.account.as_ref(), &row.platform);
    let is_under_way = is_under_way(&row, seat.act.cx.clock.now());
    let main = html! {
        p { a href=(PAGE) { "All posts" } }
        (refusal(wrong))
        div #live data-follow[is_under_way] {
            div.head {
                h1 { "Post " (row.id) " " span role="status" { (badge(status_words(&row))) } }
            }
            p.soft { (network) }
            @if let Some(set) = row.post_set_id {
                p { "One of the posts of a set: " a href=(address(set)) { "all its accounts" } "." }
            }
            (trouble(&row, seat.zone()))
            (waiting(waits.as_ref(), seat.zone()))
            @if is_under_way { p.soft { "This page follows the post by itself." } }
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
                    (steps(visit, &seat, &row))
                }
            }
            (attempts::table(&more.attempts, seat.zone()))
        }
    };
    Ok((main, is_under_way))
}

/// The time before a post is due from which its page follows it, in ms.
const SOON: Millis = 10_000;

/// Returns true for a post that changes by itself now.
pub fn is_under_way(row: &post::Model, now: Millis) -> bool {
    match row.status {
        PostStatus::Publishing | PostStatus::Processing => true,
        PostStatus::Scheduled => {
            row.next_attempt_at.or(row.scheduled_at).is_some_and(|at| at < now + SOON)
        }
        _ => false,
    }
}

async fn more(seat: &PageMember, row: &post::Model) -> Result<PostDetails> {
    let known = accounts::all(&seat.act).await?;
    let attempts = posts::attempts(&seat.act, row.id, CursorQuery::default()).await?;
    let attempts = attempts.view()?.into_list().attempts;
    let missing = if is_movable(row) {
        posts::missing_of(&seat.act, row.id).await?.missing
    } else {
        Vec::new()
    };
    Ok(PostDetails {
        account: known.into_iter().find(|account| account.id == row.account_id),
        media: posts::media_of(row).unwrap_or_default(),
        attempts,
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

/// Renders what is known of a post that did not go out as planned.
fn trouble(row: &post::Model, zone: &str) -> Markup {
    html! {
        @if let Some(trouble) = posts::trouble(row) {
            @let tone = if row.status == PostStatus::Failed { "bad" } else { "warn" };
            div class={ "flash " (tone) } role="status" {
                p { strong { (trouble.headline) } " " (one_line(&trouble.message, 600)) }
                @if let Some(remedy) = &trouble.remedy { p { (one_line(remedy, 600)) } }
                @if let Some(at) = trouble.next_look { p { "The next look is on " (local_time(at, zone)) "." } }
                p.soft { code { (trouble.code) } }
            }
        }
    }
}

/// Renders what the post waits for, but for its own time, which is among its details.
fn waiting(waits: Option<&Waiting>, zone: &str) -> Markup {
    let waits = waits.filter(|waits| waits.reason != WaitReason::ScheduledTime);
    html! {
        @if let Some(waits) = waits {
            p role="status" {
                strong { "It waits. " } (one_line(&waits.message, 300))
                @if let Some(since) = waits.since { " Since " (local_time(since.0, zone)) "." }
                @if let Some(until) = waits.until { " Until " (local_time(until.0, zone)) "." }
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

/// Renders the form for the text. After a refusal it is open, with the text that was sent.
fn edit_form(visit: &Visit, row: &post::Model) -> Markup {
    let sent = visit.form.iter().find(|(name, _)| name == "caption").map(|(_, text)| text);
    let error = sent.map(|_| "refusal");
    html! {
        details.confirm open[sent.is_some()] {
            summary { "Change the text" }
            form.narrow.broad method="post" action={ (PAGE) "/" (row.id) "/text" } {
                (parts::csrf_field(visit))
                div.field {
                    label for="caption" { "Text" }
                    textarea #caption name="caption" rows="8" aria-invalid=[error.map(|_| "true")]
                        aria-describedby=[error] { "\n" (sent.unwrap_or(&row.caption)) }
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
            @if let Some(url) = url {
                dt { "Public at" } dd { a href=(url) rel="noreferrer nofollow" { (one_line(url, 120)) } }
            }
            @if let Some(group) = &row.group_key { dt { "Group" } dd { (one_line(group, 80)) } }
            dt { "Attempts" } dd { (row.attempt) }
            dt { "Created" } dd { (local_time(row.created_at, zone)) }
        }
    }
}

/// Returns true for an address that a link may lead to.
pub fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

fn lacks(missing: &[MissingItem]) -> Markup {
    html! {
        @if !missing.is_empty() {
            div.flash.warn {
                p { strong { "Before it can be published" } }
                @for lack in missing.iter().take(20) { p { (one_line(&lack.broken.message, 300)) " " (one_line(&lack.broken.remedy, 300)) } }
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
