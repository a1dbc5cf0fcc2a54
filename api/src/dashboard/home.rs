//! `/dashboard`: the next posts, what needs attention, and the first steps.

use std::collections::HashMap;

use fanfare_domain::{
    AccountId, Result,
    access::{Role, plan_name},
    accounts, credits, keys,
    platforms::label,
    posts::agenda,
    quota::Quota,
};
use fanfare_entities::{Millis, account, account::AccountStatus, post};
use maud::{Markup, html};
use serde::Deserialize;

use super::{
    page_member::PageMember,
    parts::{badge, local_time, one_line},
    posts::{new_post, on, title},
};
use crate::oauth_connect::{PageResponse, Visit};

/// The age up to which failures are shown, in ms.
const RECENT: Millis = 14 * 24 * 3_600_000;

/// The time before the end of an account's access from which it is shown, in ms.
const SOON: Millis = 7 * 24 * 3_600_000;

/// The content of the page.
struct Home {
    accounts: Vec<account::Model>,
    next: Vec<post::Model>,
    failed: Vec<post::Model>,
    credits: Credits,
    has_posts: bool,
    has_keys: bool,
}

/// The parts of the reply with the credits that the page needs.
#[derive(Deserialize)]
struct Credits {
    wallet: Wallet,
}

/// The credits that can be spent in the workspace.
#[derive(Deserialize)]
struct Wallet {
    available: i64,
    included: Included,
}

/// The credits that the plan includes.
#[derive(Deserialize)]
struct Included {
    allowance: i64,
    remaining: i64,
}

/// Shows the home page.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    let (act, now) = (&seat.act, visit.cx.clock.now());
    let credits = credits::show(act).await?;
    let home = Home {
        accounts: accounts::all(act).await?,
        next: agenda::upcoming(act, 8).await?,
        failed: agenda::failed(act, now - RECENT, 5).await?,
        credits: serde_json::from_str(credits.body()).map_err(fanfare_domain::Error::internal)?,
        has_posts: agenda::has_any(act).await?,
        has_keys: !keys::list(&visit.cx, visit.session.user_id).await?.is_empty(),
    };
    Ok(PageResponse::Wide("Home", page(&visit, &seat, &home, now)))
}

fn page(visit: &Visit, seat: &PageMember, home: &Home, now: Millis) -> Markup {
    let names: HashMap<AccountId, &account::Model> =
        home.accounts.iter().map(|row| (row.id, row)).collect();
    let weak: Vec<_> = home.accounts.iter().filter(|row| needs_attention(row, now)).collect();
    let is_new = home.accounts.is_empty() || !home.has_posts;
    html! {
        (seat.head(visit, "Home", &new_post(seat)))
        @if is_new { (first_steps(seat, home)) }
        @if !home.failed.is_empty() || !weak.is_empty() {
            section aria-labelledby="attention" {
                h2 #attention { "Needs your attention" }
                @for row in &weak { (weak_account(row, seat.zone())) }
                @for row in &home.failed { (failed(row, names.get(&row.account_id).copied())) }
            }
        }
        div.columns {
            section aria-labelledby="next" {
                h2 #next { "Next" }
                @if home.next.is_empty() {
                    p.empty { "Nothing is scheduled." }
                } @else {
                    ul.rows {
                        @for row in &home.next {
                            (upcoming(row, names.get(&row.account_id).copied(), seat.zone()))
                        }
                    }
                    p.soft { "Times are those of " (seat.zone()) "." }
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
            home.has_keys,
            "/dashboard/api",
            "Create an API key",
            "For programs and agents. You need none for these pages.",
        ),
        (
            home.has_posts,
            "/dashboard/posts/new",
            "Create a post",
            "Schedule it, or publish it at once.",
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
            @if !seat.may(Role::Publisher) {
                p.soft { "Your role in this workspace lets you look, but not publish." }
            }
        }
    }
}

fn upcoming(row: &post::Model, account: Option<&account::Model>, zone: &str) -> Markup {
    html! {
        li {
            div { a href={ "/dashboard/posts/" (row.id) } { (title(row)) } span.soft { (on(account, &row.platform)) } }
            @if let Some(at) = row.scheduled_at { (local_time(at, zone)) }
        }
    }
}

fn failed(row: &post::Model, account: Option<&account::Model>) -> Markup {
    let said = |field: &str| row.error.as_ref().and_then(|error| error[field].as_str());
    html! {
        div.flash.bad {
            p { a href={ "/dashboard/posts/" (row.id) } { (title(row)) } " " span.soft { (on(account, &row.platform)) } }
            p { (one_line(said("message").unwrap_or("It could not be published."), 300)) }
            @if let Some(remedy) = said("remedy") { p { (one_line(remedy, 300)) } }
        }
    }
}

fn weak_account(row: &account::Model, zone: &str) -> Markup {
    let is_lost = row.status == AccountStatus::ReconnectRequired;
    html! {
        div.flash.warn {
            p { strong { (one_line(&row.username, 60)) } " " span.soft { (label(&row.platform)) } }
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
    let (membership, wallet) = (&seat.act.membership, &home.credits.wallet);
    let connected = home.accounts.iter().filter(|row| !row.sandbox).count();
    let included = Quota::Accounts.of(&seat.act.cx.settings.plans, membership.plan);
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
                    dd { (connected) " of " (included) }
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
