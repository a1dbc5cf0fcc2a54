//! `/dashboard/sets/{id}`: everything about one message on several accounts.

pub mod act;
pub mod alike;
pub mod entry;
mod refused;
mod steps;
mod targets;

use fanfare_core::{Code, Error, Result, access::Role, clock::Time};
use fanfare_entities::PostSetId;
use fanfare_publishing::posts::sets::pages::WholeSet;
use maud::{Markup, html};
use uuid::Uuid;

use super::{
    page_member::PageMember,
    parts::{self, badge, local_time, one_line},
    posts::one::is_under_way,
};
use crate::oauth_connect::{PageResponse, Visit};

/// The address of the sets' pages.
pub const PAGE: &str = "/dashboard/sets";

const TITLE: &str = "Post on several accounts";

/// The most characters of a text that are shown.
const SHOWN: usize = 10_000;

/// Returns the set in the path.
///
/// # Errors
/// [`Code::PostSetNotFound`] if it is not a UUID.
pub fn id(visit: &Visit) -> Result<PostSetId> {
    let absent = |_| Error::new(Code::PostSetNotFound, "There is no such post set.");
    Uuid::parse_str(visit.path("id")).map(PostSetId).map_err(absent)
}

/// Shows the set.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let note = alike::note(visit.query("alike"));
    let (main, follows) = page(&visit, &note).await?;
    Ok(PageResponse::following(TITLE, main, follows))
}

/// Shows the set after a step, with what the step says.
pub async fn after(visit: &Visit, note: &Markup) -> Result<PageResponse> {
    let (main, _) = page(visit, note).await?;
    Ok(PageResponse::Wide(TITLE, main))
}

/// Shows the set with the error of a form.
pub async fn wrong(visit: &Visit, error: Error) -> Result<PageResponse> {
    let id = id(visit)?;
    let seat = PageMember::of_post_set(visit, id).await?;
    let names = refused::names(visit, &seat, id).await?;
    let (main, _) = page(visit, &refused::shown(visit, &error, &names)).await?;
    Ok(PageResponse::WideInvalid(TITLE, main, refused::at_fields(error)))
}

/// Renders the page; also returns whether it follows its content, which changes by itself soon. The answer to a form does
/// not, since its address is that of the form.
async fn page(visit: &Visit, note: &Markup) -> Result<(Markup, bool)> {
    let id = id(visit)?;
    let seat = PageMember::of_post_set(visit, id).await?;
    let whole = WholeSet::find(&seat.act, id).await?;
    let now = seat.act.cx.clock.now();
    let is_under_way = whole.targets.iter().any(|one| is_under_way(&one.post, now));
    let follows = is_under_way && visit.path("verb").is_empty();
    let main = html! {
        p { a href="/dashboard/posts" { "All posts" } }
        (note)
        div #live data-follow[follows] {
            div.head {
                h1 { "Post on " (entry::count(whole.targets.len())) " " span role="status" { (badge(entry::words(&whole.targets))) } }
            }
            @if follows { p.soft { "This page follows the posts by itself." } }
            (targets::table(&whole, seat.zone())?)
            div.columns {
                section {
                    h2 { "Shared content" }
                    (content(&whole))
                    @if seat.may(Role::Editor) && whole.targets.iter().any(|one| one.is_open()) { (steps::text(visit, &whole)) }
                }
                section {
                    h2 { "Details" }
                    (facts(visit, &whole))
                    (steps::steps(visit, &seat, &whole).await?)
                }
            }
        }
    };
    Ok((main, follows))
}

fn content(whole: &WholeSet) -> Markup {
    let text = whole.text();
    let length = text.chars().count();
    let shown: String = text.chars().take(SHOWN).collect();
    html! {
        @if text.is_empty() { p.empty { "There is no shared text." } } @else { div.card.words { (shown) } }
        @if length > SHOWN { p.soft { "These are the first " (SHOWN) " of " (length) " characters." } }
        @if !whole.files().is_empty() {
            ul.media { @for url in whole.files() { li { (file(url)) } } }
        }
    }
}

/// Renders a file, whose type is guessed from its address.
fn file(url: &str) -> Markup {
    let name = one_line(url.rsplit('/').next().unwrap_or_default(), 60);
    let is = |ends: &[&str]| ends.iter().any(|end| url.to_lowercase().ends_with(end));
    html! {
        @if is(&[".jpg", ".jpeg", ".png", ".gif", ".webp"]) { img src=(url) alt=(name) loading="lazy"; }
        span.soft { (name) }
    }
}

fn facts(visit: &Visit, whole: &WholeSet) -> Markup {
    let set = &whole.set;
    html! {
        dl.facts {
            @if let Some(at) = set.scheduled_at { dt { "Shared time" } dd { (local_time(at, visit.zone())) } }
            dt { "Version" } dd { (set.version) }
            dt { "Changed" } dd { (parts::minute(visit, Time(set.updated_at))) }
            dt { "Created" } dd { (parts::minute(visit, Time(set.created_at))) }
        }
    }
}
