//! The metrics of one account: its state, totals, daily charts and the table beside them.

use fanfare_insight::analytics::{AccountNumbers, AccountSummary, DisplayMetric};
use fanfare_publishing::platforms::label;
use maud::{Markup, html};

use super::{AccountPeriod, chart};
use crate::{
    admin::parts::{number, table},
    dashboard::parts,
    oauth_connect::Visit,
};

/// The daily metrics that have a chart, with their labels.
const SERIES: [(&str, &str); 6] = [
    ("followers", "Followers"),
    ("reach", "Reach"),
    ("views", "Views"),
    ("engagements", "Engagements"),
    ("clicks", "Clicks"),
    ("profile_views", "Profile views"),
];

/// Renders the part of the page about the account.
pub fn section(visit: &Visit, shown: &AccountPeriod) -> Markup {
    let account = &shown.numbers;
    let (charted, missing): (Vec<_>, Vec<_>) = SERIES
        .into_iter()
        .partition(|(name, _)| account.snapshots.iter().any(|day| day.number(name).is_some()));
    let ends = (shown.from.as_str(), account.to.as_str());
    html! {
        (state(visit, account))
        @if let Some(summary) = &account.summary { (sums(summary)) }
        @if !account.display_metrics.is_empty() { (own(account)) }
        @if !charted.is_empty() {
            h2 { "Day by day" }
            div.charts {
                @for (name, label) in &charted {
                    @let points: Vec<_> = account.snapshots.iter().map(|day| day.number(name)).collect();
                    (chart::line(label, &points, ends))
                }
            }
            @if !missing.is_empty() {
                @let names: Vec<_> = missing.iter().map(|(_, label)| label.to_lowercase()).collect();
                p.soft { "Not known for this account: " (names.join(", ")) ". " (why(account)) }
            }
            p.soft {
                "Shaded days are not known; they are no zeros. "
                @if let Some(day) = &account.complete_through { "The network may still change days after " (day) ". " }
                @if let Some(zone) = &account.day_zone { "Days are those of " (zone) "." }
            }
            details.numbers {
                summary { "The same numbers as a table" }
                (days(account, &charted))
            }
        }
    }
}

fn why(account: &AccountNumbers) -> &'static str {
    if account.missing_permissions.is_empty() {
        "The network does not give them, or has none yet."
    } else {
        "The account's access lacks permissions for some of them."
    }
}

fn state(visit: &Visit, account: &AccountNumbers) -> Markup {
    let reconnect =
        html! { a href={ "/connect/" (account.account.platform) } { "Connect it again" } };
    html! {
        @match account.status.as_ref() {
            "ok" => {}
            "syncing" => { p.flash.plain { "The numbers are being read for the first time." } }
            "stale" => { p.flash.warn { "The numbers were not read for more than 36 hours." } }
            "needs_permission" => {
                p.flash.warn {
                    "Some numbers need permissions that the account did not grant: "
                    (account.missing_permissions.iter().map(|one| parts::one_line(one, 60)).collect::<Vec<_>>().join(", "))
                    ". " (reconnect) " and allow them."
                }
            }
            "reconnect_required" => { p.flash.warn { "The account lost its access, so nothing new is read. " (reconnect) "." } }
            "not_measurable" => { p.flash.plain { "This network gives no numbers of accounts." } }
            "archived" => { p.flash.plain { "The account is disconnected; its numbers are kept." } }
            other => { p.flash.plain { (other.replace('_', " ")) } }
        }
        @if let Some(at) = account.synced_at { p.soft { "Last read " (parts::minute(visit, at)) } }
    }
}

fn sums(summary: &AccountSummary) -> Markup {
    let basis = |basis: &str| match basis {
        "period" => "each person counted once",
        _ => "a person counts once a day",
    };
    let (period, previous) = (&summary.period, &summary.previous);
    let shown = [
        ("Followers", period.followers_end, previous.followers_end),
        ("Reach", period.reach, previous.reach),
        ("Views", period.views, previous.views),
        ("Engagements", period.engagements, previous.engagements),
    ];
    html! {
        dl.sums {
            @for (label, now, before) in shown {
                div {
                    dt { (label) }
                    dd { (known(now)) }
                    dd.soft { (compared(now, before)) }
                    @if label == "Reach" && let Some(how) = &period.reach_basis {
                        dd.soft { (basis(how)) }
                    }
                }
            }
            div {
                dt { "Engagement rate" }
                dd { @match period.engagement_rate { Some(rate) => { (format!("{rate:.2} %")) } None => { (unknown()) } } }
                dd.soft {
                    @match previous.engagement_rate { Some(rate) => { "before: " (format!("{rate:.2} %")) } None => "before: not known" }
                }
            }
        }
    }
}

fn unknown() -> Markup {
    html! { span.soft { "not known" } }
}

fn known(value: Option<i64>) -> Markup {
    html! { @match value { Some(value) => { (number(value)) } None => { (unknown()) } } }
}

fn compared(now: Option<i64>, before: Option<i64>) -> Markup {
    html! {
        @match (now, before) {
            (_, None) => "before: not known",
            (Some(now), Some(before)) if now > before => { "before: " (number(before)) " (+" (number(now - before)) ")" }
            (Some(now), Some(before)) if now < before => { "before: " (number(before)) " (−" (number(before - now)) ")" }
            (_, Some(before)) => { "before: " (number(before)) }
        }
    }
}

/// Renders the metrics that the network's own dashboard shows, under its labels.
fn own(account: &AccountNumbers) -> Markup {
    let value = |metric: &DisplayMetric, value: Option<i64>| {
        let unit = match metric.unit.as_ref() {
            "percent" => " %",
            "seconds" => " s",
            _ => "",
        };
        html! { @match value { Some(value) => { (number(value)) (unit) } None => { (unknown()) } } }
    };
    let rows: Vec<_> = account
        .display_metrics
        .iter()
        .map(|one| vec![html! { (one.label) }, value(one, one.value), value(one, one.previous)])
        .collect();
    let caption = format!("As {} names it", label(&account.account.platform));
    table(&caption, &["Number", "This period", "The period before"], &rows)
}

fn days(account: &AccountNumbers, charted: &[(&str, &str)]) -> Markup {
    let heads: Vec<_> =
        ["Day"].into_iter().chain(charted.iter().map(|(_, label)| *label)).collect();
    let rows: Vec<Vec<Markup>> = account
        .snapshots
        .iter()
        .rev()
        .map(|day| {
            let is_provisional = day.provisional == Some(true);
            let mut cells =
                vec![html! { (day.date) @if is_provisional { " " span.soft { "may change" } } }];
            cells.extend(charted.iter().map(|(name, _)| known(day.number(name))));
            cells
        })
        .collect();
    table("Numbers by the day, the latest first", &heads, &rows)
}
