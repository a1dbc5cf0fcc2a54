//! `/dashboard/posts`: the posts of the workspace as a list and as a calendar.

pub mod act;
mod attempts;
mod calendar;
pub mod one;
mod steps;

use std::collections::HashMap;

use fanfare_core::{AccountId, Error, Result, access::Role};
use fanfare_entities::{PostSetId, account, post};
use fanfare_publishing::{
    accounts,
    platforms::label,
    posts::{self, PostFilter, WaitReason, Waiting, sets::TargetRow, status_words},
};
use maud::{Markup, html};
use url::form_urlencoded::Serializer;

use super::{
    marks::{self, account_name, thumbnail},
    page_member::PageMember,
    parts::{self, badge, local_time, one_line},
    sets::entry::{self, Sets},
};
use crate::oauth_connect::{PageResponse, Visit};

const TITLE: &str = "Posts";
const PAGE: &str = "/dashboard/posts";

/// The statuses in the order of the filter.
const STATUSES: [&str; 7] =
    ["draft", "scheduled", "paused", "publishing", "processing", "published", "failed"];

/// The accounts of a page, by their ids.
type Accounts = HashMap<AccountId, account::Model>;

/// Shows the posts in the view that was asked for.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    match body(&visit, &seat).await {
        Ok((main, changes)) => {
            let main = page(&visit, &seat, &live(&main, changes), None);
            Ok(PageResponse::following(TITLE, main, changes))
        }
        Err(error) if !error.violations().is_empty() => {
            let main = page(&visit, &seat, &html! {}, Some(&error));
            Ok(PageResponse::WideInvalid(TITLE, main, error))
        }
        Err(error) => Err(error),
    }
}

/// Renders a part of a page that keeps up while its content changes by itself.
pub fn live(main: &Markup, changes: bool) -> Markup {
    html! { div #live data-follow[changes] { (main) } }
}

/// Renders the view; also returns whether a post in it changes by itself soon.
async fn body(visit: &Visit, seat: &PageMember) -> Result<(Markup, bool)> {
    let rows = accounts::all(&seat.act).await?;
    let accounts: Accounts = rows.into_iter().map(|row| (row.id, row)).collect();
    match visit.query("view") {
        Some("month") => calendar::month(visit, seat, &accounts).await,
        Some("week") => calendar::week(visit, seat, &accounts).await,
        _ => list(visit, seat, &accounts).await,
    }
}

fn page(visit: &Visit, seat: &PageMember, main: &Markup, wrong: Option<&Error>) -> Markup {
    let view = visit.query("view").filter(|view| ["month", "week"].contains(view));
    let view = view.unwrap_or("list");
    html! {
        (seat.head(visit, TITLE, &new_post(seat)))
        (parts::form_error(wrong))
        nav.tabs aria-label="Views" {
            @for (name, words) in [("list", "List"), ("week", "Week"), ("month", "Month")] {
                a href={ (PAGE) "?view=" (name) } aria-current=[(view == name).then_some("page")] { (words) }
            }
        }
        (main)
    }
}

async fn list(visit: &Visit, seat: &PageMember, accounts: &Accounts) -> Result<(Markup, bool)> {
    let filter = PostFilter {
        account_id: visit.parsed("account_id")?,
        status: visit.query("status").map(str::to_owned),
        from: visit.query("from").map(str::to_owned),
        to: visit.query("to").map(str::to_owned),
        cursor: visit.query("cursor").map(str::to_owned),
        limit: Some(25),
        ..PostFilter::default()
    };
    let is_filtered = ["account_id", "status", "from", "to", "cursor"];
    let is_filtered = is_filtered.iter().any(|name| visit.query(name).is_some());
    let (rows, next) = posts::rows(&seat.act, filter).await?;
    let waiting = posts::waiting_of(&seat.act.cx, &rows).await?;
    let sets = Sets::of(seat, &rows).await?;
    let now = seat.act.cx.clock.now();
    let changes = rows.iter().any(|row| one::is_under_way(row, now));
    let main = html! {
        (filters(visit, accounts))
        @if rows.is_empty() {
            @if is_filtered { div.empty { p { "No post matches." } p { a href=(PAGE) { "Show all posts" } } } } @else { (first_post(seat, accounts)) }
        } @else {
            ul.rows {
                @for row in sets.firsts(&rows) {
                    @match sets.of_post(row) {
                        Some(set) => (set_line(seat, (row, &sets.title(row)), set)),
                        None => (line(seat, accounts, row, waiting.get(&row.id))),
                    }
                }
            }
        }
        @if let Some(next) = next { p.actions { a.button href=(after(visit, &next)) { "Older posts" } } }
    };
    Ok((main, changes))
}

fn first_post(seat: &PageMember, accounts: &Accounts) -> Markup {
    html! {
        div.empty {
            @if accounts.is_empty() {
                p { "Your posts appear here. Connect an account first: posts go out on it." }
                p { a.button.strong href="/connect" { "Connect an account" } }
            } @else if seat.may(Role::Editor) {
                p { "Your posts appear here: drafts, what is scheduled and what went out." }
                p { a.button.strong href={ (PAGE) "/new" } { "Create the first one" } }
            } @else {
                p { "There are no posts yet. Your role in this workspace lets you look, but not write." }
            }
        }
    }
}

fn filters(visit: &Visit, accounts: &Accounts) -> Markup {
    let mut rows: Vec<_> = accounts.values().collect();
    rows.sort_by_key(|row| row.id);
    let chosen = visit.query("account_id").unwrap_or_default();
    html! {
        form.filter method="get" action=(PAGE) {
            div.field {
                label for="status" { "Status" }
                select #status name="status" {
                    option value="" { "All" }
                    @for status in STATUSES {
                        option value=(status) selected[visit.query("status") == Some(status)] { (status) }
                    }
                }
            }
            div.field {
                label for="account" { "Account" }
                select #account name="account_id" {
                    option value="" { "All" }
                    @for row in rows {
                        option value=(row.id) selected[row.id.to_string() == chosen] { (on(Some(row), &row.platform)) }
                    }
                }
            }
            div.field {
                label for="from" { "From" }
                input #from type="date" name="from" value=[visit.query("from")];
            }
            div.field {
                label for="to" { "To" }
                input #to type="date" name="to" value=[visit.query("to")];
            }
            button type="submit" { "Show" }
        }
    }
}

/// Returns the address of the same list from this cursor on.
fn after(visit: &Visit, cursor: &str) -> String {
    let kept = visit.query.iter().filter(|(name, _)| name != "cursor");
    let mut query = Serializer::new(String::new());
    query.extend_pairs(kept).append_pair("cursor", cursor);
    format!("{PAGE}?{}", query.finish())
}

fn line(
    seat: &PageMember,
    accounts: &Accounts,
    row: &post::Model,
    waits: Option<&Waiting>,
) -> Markup {
    let waits = waits.filter(|waits| waits.reason != WaitReason::ScheduledTime);
    let at = if row.public_at.is_some() { row.public_at } else { row.scheduled_at };
    html! {
        li {
            div.what {
                (thumbnail(row))
                div {
                    a href={ (PAGE) "/" (row.id) } { (title(row)) }
                    span.soft { (marks::account(accounts.get(&row.account_id), &row.platform)) }
                    @if let Some(waits) = waits { span.soft { (one_line(&waits.message, 200)) } }
                }
            }
            div.end {
                (badge(status_words(row)))
                @if let Some(at) = at { (local_time(at, seat.zone())) }
            }
        }
    }
}

/// Renders a set as one line; the first file of one of its posts stands for all.
fn set_line(
    seat: &PageMember,
    (row, title): (&post::Model, &str),
    (id, targets): (PostSetId, &[TargetRow]),
) -> Markup {
    let at = targets.iter().filter_map(|one| one.post.public_at.or(one.post.scheduled_at)).min();
    html! {
        li {
            div.what {
                (thumbnail(row))
                div {
                    a href=(entry::address(id)) { (title) }
                    span.soft { (entry::networks(targets)) }
                }
            }
            div.end {
                (badge(entry::words(targets)))
                @if let Some(at) = at { (local_time(at, seat.zone())) }
            }
        }
    }
}

/// Renders the link to the composer, for users who may write.
pub fn new_post(seat: &PageMember) -> Markup {
    html! { @if seat.may(Role::Editor) { a.button.strong href={ (PAGE) "/new" } { "New post" } } }
}

/// Returns the beginning of a post's text, or a description without one.
pub fn title(row: &post::Model) -> String {
    let text = one_line(&row.caption, 90);
    if text.is_empty() {
        format!("Without text ({})", row.post_type.replace('_', " "))
    } else {
        text
    }
}

/// Returns the account and the network of a post.
pub fn on(account: Option<&account::Model>, platform: &str) -> String {
    let name =
        account.map_or_else(String::new, |row| format!("{} · ", account_name(&row.username)));
    format!("{name}{}", label(platform))
}
