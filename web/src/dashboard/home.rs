//! `/dashboard`: the next posts, what needs attention, and the first steps.

use std::collections::HashMap;

use fanfare_core::{
    AccountId, Result,
    access::{Role, plan_name},
};
use fanfare_entities::{Millis, account, account::AccountStatus, post, post::PostStatus};
use fanfare_people::{
    credits::{self, Wallet},
    keys,
    quota::Quota,
};
use fanfare_publishing::{
    accounts,
    posts::{self, agenda, status_words},
};
use maud::{Markup, html};

use super::{
    marks::{self, thumbnail},
    page_member::PageMember,
    parts::{badge, local_time, one_line},
    posts::{live, new_post, one::is_under_way, title},
};
use crate::oauth_connect::{PageResponse, Visit};

/// The age up to which failures are shown, in ms.
const RECENT: Millis = 14 * 24 * 3_600_000;

/// The time before the end of an account's access from which it is shown, in ms.
const SOON: Millis = 7 * 24 * 3_600_000;

/// The content of the page.
struct Home {
    accounts: Vec<account::Model>,
    under_way: Vec<post::Model>,
    next: Vec<post::Model>,
    failed: Vec<post::Model>,
    wallet: Wallet,
    has_posts: bool,
    has_keys: bool,
}

/// Shows the home page.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    let (act, now) = (&seat.act, visit.cx.clock.now());
    let credits = credits::show(act).await?.view()?;
    let home = Home {
        accounts: accounts::all(act).await?,
        under_way: agenda::under_way(act, 8).await?,
        next: agenda::upcoming(act, 8).await?,
        failed: agenda::failed(act, now - RECENT, 5).await?,
        wallet: credits.wallet,
        has_posts: agenda::has_any(act).await?,
        has_keys: !keys::list(&visit.cx, visit.session.user_id).await?.is_empty(),
    };
    let mut shown = home.next.iter().chain(&home.under_way);
    let changes = shown.any(|row| is_under_way(row, now));
    Ok(PageResponse::following("Home", page(&visit, &seat, &home, (now, changes)), changes))
}

fn page(visit: &Visit, seat: &PageMember, home: &Home, (now, changes): (Millis, bool)) -> Markup {
    let names: HashMap<AccountId, &account::Model> =
        home.accounts.iter().map(|row| (row.id, row)).collect();
    let weak: Vec<_> = home.accounts.iter().filter(|row| needs_attention(row, now)).collect();
    let is_new = home.accounts.is_empty() || !home.has_posts;
    html! {
        (seat.head(visit, "Home", &new_post(seat)))
        @if is_new { (first_steps(seat, home)) }
        (live(&posts_and_plan(seat, home, (&names, &weak)), changes))
    }
}

/// Renders what needs attention, what goes out now, and what goes out next.
fn posts_and_plan(
    seat: &PageMember,
    home: &Home,
    (names, weak): (&HashMap<AccountId, &account::Model>, &[&account::Model]),
) -> Markup {
    let account = |row: &post::Model| names.get(&row.account_id).copied();
    html! {
        @if !home.failed.is_empty() || !weak.is_empty() {
            section aria-labelledby="attention" {
                h2 #attention { "Needs your attention" }
                @for row in weak { (weak_account(row, seat.zone())) }
                @for row in &home.failed { (failed(row, account(row))) }
            }
        }
        div.columns {
            section aria-labelledby="next" {
                h2 #next { "Next" }
                @if home.next.is_empty() && home.under_way.is_empty() {
                    div.empty {
                        p { "Nothing is scheduled. What goes out next appears here." }
                        @if !home.accounts.is_empty() { p { (new_post(seat)) } }
                    }
                } @else {
                    ul.rows {
                        @for row in home.under_way.iter().chain(&home.next) {
                            (upcoming(row, account(row), seat.zone()))
                        }
                    }
                }
            }
            (plan(seat, home))
        }
    }
}

fn needs_attention(row: &account::Model, now: Millis) -> bool {
    let ends = row.token_expires_at.filter(|_| row.refresh_at.is_none());
    row.status == AccountStatus::ReconnectRequired || ends.is_some_and(|end| end < now + SOON)
}

fn first_steps(seat: &PageMember, home: &Home) -> Markup {
    let steps = [
        (
            !home.accounts.is_empty(),
            "/connect",
            "Connect an account",
            "Fanfare posts on it for you. A simulated account is good for a first try.",
        ),
        (
            home.has_posts,
            "/dashboard/posts/new",
            "Create a post",
            "Schedule it, or publish it at once, and see it go out here.",
        ),
        (
            home.has_keys,
            "/dashboard/api",
            "Create an API key",
            "For developers: programs and agents use it. You need none for these pages.",
        ),
    ];
    html! {
        section.card aria-labelledby="first" {
            h2 #first { "First steps" }
            ol.steps {
                @for (is_done, path, title, words) in steps {
                    li.done[is_done] {
                        a href=(path) { (title) } @if is_done { " " span.badge.good { "done" } }
                        span.soft { (words) }
                    }
                }
            }
            @if !seat.may(Role::Editor) {
                p.soft { "Your role in this workspace lets you look, but not write." }
            } @else if !seat.may(Role::Publisher) {
                p.soft { "Your role in this workspace lets you write drafts and answer people; publishers publish." }
            }
        }
    }
}

fn upcoming(row: &post::Model, account: Option<&account::Model>, zone: &str) -> Markup {
    html! {
        li {
            div.what {
                (thumbnail(row))
                div { a href={ "/dashboard/posts/" (row.id) } { (title(row)) } span.soft { (marks::account(account, &row.platform)) } }
            }
            div.end {
                @if row.status != PostStatus::Scheduled { (badge(status_words(row))) }
                @if let Some(at) = row.scheduled_at { (local_time(at, zone)) }
            }
        }
    }
}

fn failed(row: &post::Model, account: Option<&account::Model>) -> Markup {
    html! {
        div.flash.bad {
            p { a href={ "/dashboard/posts/" (row.id) } { (title(row)) } " " span.soft { (marks::account(account, &row.platform)) } }
            @if let Some(trouble) = posts::trouble(row) {
                p { strong { (trouble.headline) } " " (one_line(&trouble.message, 300)) }
                @if let Some(remedy) = &trouble.remedy { p { (one_line(remedy, 300)) } }
            }
        }
    }
}

fn weak_account(row: &account::Model, zone: &str) -> Markup {
    let is_lost = row.status == AccountStatus::ReconnectRequired;
    html! {
        div.flash.warn {
            p { (marks::account(Some(row), &row.platform)) }
            @if is_lost {
                p { "The network no longer accepts this account's credentials, so nothing is published on it." }
            } @else if let Some(end) = row.token_expires_at {
                p { "Its access ends on " (local_time(end, zone)) "." }
            }
            p { a href={ "/connect/" (row.platform) } { "Connect it again" } }
        }
    }
}

fn plan(seat: &PageMember, home: &Home) -> Markup {
    let (membership, wallet) = (&seat.act.membership, &home.wallet);
    let connected = home.accounts.iter().filter(|row| !row.sandbox).count();
    let simulated = home.accounts.len() - connected;
    let included =
        Quota::Accounts.of(&fanfare_people::settings(&seat.act.cx).plans, membership.plan);
    let is_low = wallet.included.allowance > 0 && wallet.available * 10 < wallet.included.allowance;
    html! {
        section aria-labelledby="plan" {
            h2 #plan { "Plan and credits" }
            div.card {
                dl.facts {
                    dt { "Plan" }
                    dd {
                        (plan_name(membership.plan).replace('_', " "))
                        @if !membership.active { " " (badge("paused")) }
                    }
                    dt { "Accounts" }
                    dd {
                        (connected) " of " (included)
                        @if simulated > 0 { span.soft { " (" (simulated) " simulated, which do not count)" } }
                    }
                    dt { "Credits" }
                    dd {
                        (wallet.available)
                        @if wallet.included.allowance > 0 {
                            span.soft { " (" (wallet.included.remaining) " of " (wallet.included.allowance) " included ones are left)" }
                        }
                    }
                }
                @if is_low { p.flash.warn { "Few credits are left." } }
                @if connected as u64 >= included { p.flash.warn { "All places for accounts are taken." } }
                p { a href="/dashboard/billing" { "Billing" } " · " a href="/dashboard/accounts" { "Accounts" } }
            }
        }
    }
}
