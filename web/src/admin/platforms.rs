//! `/admin/platforms`: how publishing to each network goes, and pausing it.

use fanfare_core::Result;
use fanfare_entities::Millis;
use fanfare_ops::ops::{
    networks::{self, Network, ResultCounts},
    pauses::{self, Pause},
};
use maud::{Markup, html};

use super::{
    live,
    parts::{action_link, badge, empty, number, relative_time, table},
    visit::{PageResponse, Visit},
};

/// Shows the page.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let part = live::embed(visit, "platforms").await?;
    Ok(PageResponse::Page(
        "Platforms",
        html! {
            h1 { "Platforms" }
            (part)
            h2 { "Pause" }
            div.row {
                (action_link("pause", "target=all", "Pause all publishing…"))
                form.inline method="get" action="/admin/act/pause" {
                    label for="account" { "One account" }
                    input #account name="account" inputmode="numeric" pattern="[0-9]+" placeholder="Number" required;
                    button type="submit" { "Pause…" }
                }
            }
        },
    ))
}

/// Renders the live part of the page.
pub async fn part(visit: Visit) -> Result<Markup> {
    let (networks, pauses) = (networks::list(&visit.cx).await?, pauses::list(&visit.cx).await?);
    let rows: Vec<_> = networks.iter().map(|network| row(network, &pauses)).collect();
    let heads = [
        "Platform",
        "Accounts",
        "Success, hour",
        "Success, day",
        "Retried, day",
        "Errors, day",
        "Seen, day",
        "Budget used",
        "API",
        "Publishing",
    ];
    Ok(html! {
        (paused(&pauses, visit.cx.clock.now()))
        (table("Publishing by platform", &heads, &rows))
    })
}

fn row(network: &Network, pauses: &[Pause]) -> Vec<Markup> {
    let target = format!("platform:{}", network.platform);
    let is_paused = pauses.iter().any(|pause| pause.target == target);
    let query = format!("target={target}");
    vec![
        html! { strong { (network.platform) } },
        html! {
            (number(network.connected))
            @if network.to_reconnect > 0 { span.late { ", " (network.to_reconnect) " to reconnect" } }
        },
        success(&network.hour),
        success(&network.day),
        html! { (number(network.day.retried)) },
        errors(network),
        seen(network),
        budget(network),
        api(network),
        html! {
            @if is_paused { (action_link("resume", &query, "Resume…")) } @else { (action_link("pause", &query, "Pause…")) }
        },
    ]
}

fn success(tally: &ResultCounts) -> Markup {
    let Some(share) = tally.success_rate() else { return html! { span.soft { "–" } } };
    let ended = tally.published + tally.failed;
    html! {
        span.late[share < 0.9] { (format!("{:.1} %", share * 100.0)) }
        span.soft { " of " (number(ended)) }
    }
}

/// Renders the used share of the network's limits, over all accounts.
fn budget(network: &Network) -> Markup {
    let Some(budget) = &network.budget else { return html! { span.soft { "no limit" } } };
    let share = budget.share();
    let window = if budget.window > 3_600_000 { "a day" } else { "an hour" };
    html! {
        span.late[share > 0.9] { (format!("{:.0} %", share * 100.0)) }
        span.soft { " of " (number(budget.allowed)) " " (window) }
    }
}

/// Renders the version of its API, and when it ends.
fn api(network: &Network) -> Markup {
    let Some(version) = network.api_version else { return html! { span.soft { "–" } } };
    html! {
        (version)
        @if let Some(days) = network.api_days_left {
            span.late[network.api_ends_soon()].soft[network.api_remedy().is_none()] {
                @if days < 0 { ", has ended" } @else { ", ends in " (days) " days" }
                @if let Some(remedy) = network.api_remedy() { ": " (remedy) }
            }
        }
        @if network.api_untested { span.late { ", not tested with this release" } }
        @if let Some(since) = network.api_unchecked_since {
            span.late { ", nobody has looked for a newer version since " (since) }
        }
    }
}

fn errors(network: &Network) -> Markup {
    html! {
        @if network.day.errors.is_empty() { span.soft { "none" } }
        ul.plain {
            @for (code, n) in network.day.errors.iter().take(4) {
                li {
                    a href={ "/admin/work?platform=" (network.platform) "&error=" (code) } { code { (code) } }
                    " " (number(*n))
                }
            }
        }
    }
}

/// Renders how many published posts others see than they were meant for. Where the network's answers do not tell, it says
/// what to look at, and what a look without a log-in has shown.
fn seen(network: &Network) -> Markup {
    let (hidden, day) = (network.day.hidden, &network.day);
    html! {
        @match (hidden, network.unseen) {
            (0, None) => { span.soft { "as asked" } }
            (0, Some(_)) => { span.soft { "the platform does not say" } }
            (hidden, _) => { span.late { (number(hidden)) " not as asked" } }
        }
        @if let Some(unseen) = network.unseen.filter(|_| network.connected > 0) {
            @if day.looks_closed > 0 {
                div { span.late { "A look without a log-in did not show the post." } }
            } @else if day.looks_open > 0 {
                div { span.soft { "A look without a log-in showed the post." } }
            }
            details { summary { "What to look at" } p { (unseen) } }
        }
    }
}

fn paused(pauses: &[Pause], now: Millis) -> Markup {
    if pauses.is_empty() {
        return empty("Nothing is paused.");
    }
    let rows = pauses.iter().map(|pause| {
        vec![
            html! { (badge("paused")) " " (pause.name()) },
            html! { (pause.reason) },
            html! { (pause.operator) },
            relative_time(pause.since, now),
            html! { (number(pause.held)) },
            action_link("resume", &format!("target={}", pause.target), "Resume…"),
        ]
    });
    let heads = ["Paused", "Why", "Who", "Since", "Posts waiting", ""];
    table("Pauses", &heads, &rows.collect::<Vec<_>>())
}
